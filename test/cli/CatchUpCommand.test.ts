/** `aicr catch-up` prints one line per trigger about its latest searches. */
import { expect, it } from "vitest"
import { formatCatchUp } from "../../src/cli/CatchUpCommand.ts"

const search = { found: 0, skipped: 0 }

it.each([
  ["none yet", search, "main  last delivery 2026-01-31T08:00:00Z; no search yet"],
  [
    "nothing found",
    { ...search, last_at: "2026-01-31T11:00:00.123Z" },
    "main  last delivery 2026-01-31T08:00:00Z; last search 2026-01-31T11:00:00Z"
  ],
  [
    "found and not all reviewed",
    {
      found: 1,
      skipped: 2,
      last_at: "2026-01-31T11:00:00.123Z",
      found_at: "2026-01-31T11:00:00.123Z",
      found_since: "2026-01-31T09:00:00.000Z",
      found_for: "start" as const,
      failure: { _tag: "ReportsWait", count: 3 } as const
    },
    "main  last delivery 2026-01-31T08:00:00Z; last search 2026-01-31T11:00:00Z; " +
      "1 change found without a delivery (search at the start of a node) at 2026-01-31T11:00:00Z, after 2026-01-31T09:00:00Z; " +
      "2 not reviewed (catch_up.max_age_hours, max_changes); " +
      "incomplete: 3 changes that no hook reported wait: almost as many reports wait as queue.limits.per_workspace allows"
  ]
])("%s", (_name, state, line) => {
  const delivered = "2026-01-31T08:00:00.456Z"
  expect(formatCatchUp({ name: "main", last_delivery_at: delivered, catch_up: state })).toBe(line)
  expect(formatCatchUp({ name: "main", catch_up: state })).toContain("no delivery of the last week")
})

/** `aicr catch-up` prints one line per trigger about its latest searches. */
import { expect, it } from "vitest"
import { formatCatchUp } from "../../src/cli/CatchUpCommand.ts"

const search = { found: 0, skipped: 0 }

it.each([
  ["none yet", search, "main  no search yet"],
  ["nothing found", { ...search, last_at: "2026-01-31T11:00:00.123Z" }, "main  last search 2026-01-31T11:00:00Z"],
  [
    "found and not all reviewed",
    {
      found: 1,
      skipped: 2,
      last_at: "2026-01-31T11:00:00.123Z",
      found_at: "2026-01-31T11:00:00.123Z",
      found_since: "2026-01-31T09:00:00.000Z",
      failure: { _tag: "ReportsWait", count: 3 } as const
    },
    "main  last search 2026-01-31T11:00:00Z; 1 change found without a delivery at 2026-01-31T11:00:00Z, after 2026-01-31T09:00:00Z; " +
      "2 not reviewed (catch_up.max_age_hours, max_changes); " +
      "incomplete: 3 changes that no hook reported wait: almost as many reports wait as queue.limits.per_workspace allows"
  ]
])("%s", (_name, state, line) => {
  expect(formatCatchUp({ name: "main", catch_up: state })).toBe(line)
})

/** Other nodes read the last error that a node publishes, and nothing of another form. */
import { expect, it } from "vitest"
import { readDetails } from "../../../src/admin/nodes/NatsPresence.ts"

const record = (more: object) => ({
  name: "one",
  roles: ["executor"],
  version: "0.1.0",
  startedAt: 0,
  more: JSON.parse(JSON.stringify(more))
})

it.each([
  [{ at: "2026-12-01T00:00:00.000Z", message: "run ended", run_id: "r1" }, true],
  [{ at: "2026-12-01T00:00:00.000Z", message: "run ended" }, true],
  [{ message: "run ended" }, false],
  ["run ended", false],
  [undefined, false]
])("the last error %j is read: %s", (lastError, isRead) => {
  expect(readDetails(record({ slots: 4, lastError }))).toMatchObject({ slots: 4, refused: [] })
  expect(readDetails(record({ lastError })).lastError).toEqual(isRead ? lastError : undefined)
})

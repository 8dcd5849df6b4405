/** Lines of `aicr log`. */
import { expect, it } from "vitest"
import { formatLine } from "../../src/cli/LogCommand.ts"

it("shows reasons in English, and other fields as they were logged", () => {
  const fields = {
    workspace: "w",
    status: "failed",
    reason: { _tag: "GivenUp", reason: { _tag: "Text", text: "GET /x failed" }, hours: 24 },
    usage: { requests: 1 }
  }
  expect(formatLine({ at: "2026-03-04T12:00:00.000Z", level: "error", message: "run ended", fields })).toBe(
    '2026-03-04T12:00:00Z  error  run ended status=failed reason=GET /x failed; given up after 24 hours usage={"requests":1}'
  )
})

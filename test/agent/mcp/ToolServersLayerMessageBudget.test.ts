/** Messages of a hostile agent, which would occupy the event loop, over the socket of the tool server. */
import { describe, expect, it } from "vitest"
import { MessageBudget } from "../../../src/agent/mcp/ToolServersLayer.ts"
import { withTools } from "./ToolFixture.ts"

const problem = {
  file: "a.ts",
  line: 1,
  severity: "high",
  category: "bug",
  title: "It fails",
  message: "It fails.",
  quote: "a = 1",
  suggestion: "a = 2"
}
const report = (args: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "report_problems", arguments: args } })

describe("a request", () => {
  it.each([
    ["many empty problems", report({ problems: Array.from({ length: 900_000 }, () => ({})) })],
    ["many fields", report(Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`k${at}`, 1])))],
    ["many messages", `[${"{},".repeat(500_000)}{}]`],
    ["deep lists", `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`]
  ])("of %s is refused before it is parsed, and reports still arrive", async (_, body) => {
    await withTools({}, async ({ call, post, problems }) => {
      const { status, text } = await post(body)
      expect([status, JSON.parse(text).error.message]).toEqual([
        413,
        "a request has at most 10000 values, nested at most 64 levels deep"
      ])
      const many = Array.from({ length: 500 }, () => problem)
      expect((await call("report_problems", { problems: many })).isError).toBe(false)
      expect(problems).toHaveLength(500)
    })
  })
})

describe("all requests together", () => {
  const refusals = (count: number, body: string) => {
    const budget = new MessageBudget()
    const bytes = Buffer.from(body)
    return Array.from({ length: count }, () => budget.refuse(bytes)?.status).filter((status) => status !== undefined)
  }

  it.each([
    ["5000 requests", 5001, "{}"],
    ["64 MiB", 32, `"${"x".repeat(2 * 1024 * 1024)}"`],
    ["half a million values", 52, `[${"0,".repeat(9_998)}0]`]
  ])("are at most %s", (_, count, body) => {
    expect(refusals(count, body)).toEqual([429])
  })
})

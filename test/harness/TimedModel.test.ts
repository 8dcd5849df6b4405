/** The timed model keeps its promises: benchmarks and scenarios are worth as much as they do. */
import { afterEach, expect, it } from "vitest"
import { faultyLine } from "./SeededFaults.ts"
import { startTimedModel } from "./TimedModel.ts"
import type { TimedModel, TimedModelOptions } from "./TimedModel.ts"
import type { ChatRequest } from "./TimedModelReviewer.ts"
import { waitUntil } from "./Wait.ts"

/** Timers may fire a millisecond early, which is a hundred of the model. */
const slack = 100

let model: TimedModel
afterEach(() => model[Symbol.asyncDispose]())
const start = async (options: Omit<TimedModelOptions, "factor"> = {}) => {
  model = await startTimedModel({ factor: 0.01, ...options })
}

const tool = (name: string, properties: Readonly<Record<string, unknown>> = {}) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties } }
})
const reviewTools = ["report_problem", "publish_summary", "fetch_more_context"].map((name) => tool(name))
const rules = "Look for what would hurt. ".repeat(400)
const diff = [
  "=== src/a.ts (modified, TypeScript)",
  "@@ -1,2 +1,3 @@",
  " 1  1 | const one = 1",
  `2+: ${faultyLine("one", "high")}`,
  " 2  3 | const two = 2",
  "=== src/b.ts (added)",
  "@@ -0,0 +1,1 @@",
  `1+: ${faultyLine("two", "low")}`
].join("\n")

const chat = (messages: ChatRequest["messages"], tools: ReadonlyArray<unknown> = reviewTools) => ({
  messages: [{ role: "system", content: rules }, ...messages],
  tools
})
const post = (body: unknown, signal?: AbortSignal) =>
  fetch(`${model.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal })
  })

interface Read {
  readonly calls: ReadonlyArray<{ readonly name: string; readonly input: unknown }>
  readonly usage: unknown
}

const ask = async (body: ReturnType<typeof chat>): Promise<Read> => {
  const { choices, usage } = Object(await (await post(body)).json())
  const calls = choices[0].message.tool_calls.map((call: { function: { name: string; arguments: string } }) => ({
    name: call.function.name,
    input: JSON.parse(call.function.arguments)
  }))
  return { calls, usage }
}

const askStreamed = async (body: ReturnType<typeof chat>): Promise<Read> => {
  const text = await (await post({ ...body, stream: true })).text()
  const events = text
    .split("\n\n")
    .filter((row) => row.startsWith("data: {"))
    .map((row) => Object(JSON.parse(row.slice(6))))
  const calls: Array<{ name: string; input: string }> = []
  for (const { choices } of events) {
    for (const { index, function: part } of choices[0]?.delta.tool_calls ?? []) {
      calls[index] ??= { name: part.name, input: "" }
      const call = calls[index]
      if (call !== undefined) call.input += part.arguments
    }
  }
  return { calls: calls.map(({ name, input }) => ({ name, input: JSON.parse(input) })), usage: events.at(-1)?.usage }
}

const change = chat([{ role: "user", content: diff }])

it("reports the seeded faults where they are, streamed and whole alike", async () => {
  await start()
  const whole = await ask(change)
  const found = whole.calls.map(({ name, input }) => [name, Object(input).file, Object(input).line])
  expect(found).toEqual([
    ["report_problem", "src/a.ts", 2],
    ["report_problem", "src/b.ts", 1],
    ["publish_summary", undefined, undefined]
  ])
  expect((await askStreamed(change)).calls).toEqual(whole.calls)
  expect(model.calls[0]?.shown).toEqual(["src/a.ts:2", "src/b.ts:1"])
})

it("takes a list where the tool for it is offered", async () => {
  await start()
  const list = tool("report_problems", { problems: { type: "array", items: { type: "object", properties: {} } } })
  const { calls } = await ask(chat([{ role: "user", content: diff }], [...reviewTools, list]))
  expect(calls.map(({ name }) => name)).toEqual(["report_problems", "publish_summary"])
  expect(Object(calls[0]?.input).problems).toHaveLength(2)
})

it("confirms findings in the form that the tool has", async () => {
  await start()
  const quotes = ["one", "two"].map((name) => JSON.stringify({ quote: faultyLine(name, "high") }))
  const content = `<findings x>\n${quotes.join("\n")}\n</findings x>\n${diff}`
  const one = await ask(chat([{ role: "user", content }], [tool("verdict")]))
  expect(one.calls.map(({ name, input }) => [name, Object(input).verdict])).toEqual([["verdict", "confirm"]])
  const items = { type: "object", properties: { finding: { type: "integer" } } }
  const several = [...reviewTools, tool("verdicts", { verdicts: { type: "array", items } })]
  const { calls } = await ask(chat([{ role: "user", content }], several))
  expect(calls.map(({ name, input }) => [name, Object(input).verdicts.length])).toEqual([["verdicts", 2]])
  expect(Object(calls[0]?.input).verdicts[1]).toMatchObject({ finding: 2, verdict: "confirm" })
  expect(model.calls.map(({ kind }) => kind)).toEqual(["verification", "verification"])
})

it("takes the time of its prompt, its thinking and its tokens", async () => {
  await start({ thinkingMillis: 5000 })
  await ask(change)
  await askStreamed(change)
  for (const call of model.calls) {
    expect(call.output).toBeGreaterThan(300)
    expect(call.end - call.begin).toBeGreaterThanOrEqual(1200 + (call.output / 60) * 1000 - slack)
  }
})

it("caches a prefix in steps of 128 tokens, once a call with it has ended its prompt phase", async () => {
  await start()
  const other = chat([{ role: "user", content: `${diff}\n+another` }])
  await Promise.all([ask(change), ask(other)])
  await ask(other)
  const cached = model.calls.map((call) => call.cached)
  expect(cached.slice(0, 2)).toEqual([0, 0])
  expect(cached[2]).toBeGreaterThan(1024)
  expect((cached[2] ?? 0) % 128).toBe(0)
  expect((model.calls[2]?.input ?? 0) - (cached[2] ?? 0)).toBeLessThan(128)
  await ask(chat([{ role: "user", content: "Something else." }], [tool("first"), ...reviewTools]))
  expect(model.calls[3]?.cached).toBe(0)
})

it("refuses calls above its limit, with and without the seconds to wait", async () => {
  await start({ maxConcurrent: 1, responseMillis: 10_000_000 })
  const given = new AbortController()
  const first = post(change, given.signal).catch(() => "aborted")
  await waitUntil(() => model.calls.length === 1, { describe: () => "the first call runs" })
  const refused = [await post(change), await post(change)]
  expect(refused.map(({ status, headers }) => [status, headers.get("retry-after")])).toEqual([
    [429, "1"],
    [429, null]
  ])
  given.abort()
  await first
  await waitUntil(() => model.calls[0]?.outcome === "aborted", { describe: () => `${model.calls[0]?.outcome}` })
  model.change({ maxConcurrent: 1 })
  expect((await post(change)).status).toBe(200)
  expect(model.calls.map(({ outcome }) => outcome)).toEqual(["aborted", "throttled", "throttled", "responded"])
})

it("has trouble by its seed, the same every time", async () => {
  const outcomes = async () => {
    await start({ trouble: { seed: 3, throttled: 0.3, unavailable: 0.3, stalled: 0 } })
    for (let n = 0; n < 12; n++) await (await post(change)).text()
    return model.calls.map(({ outcome }) => outcome)
  }
  const first = await outcomes()
  expect(new Set(first)).toEqual(new Set(["responded", "throttled", "unavailable"]))
  await model[Symbol.asyncDispose]()
  expect(await outcomes()).toEqual(first)
})

it("stalls in the middle, and what it sent is paid", async () => {
  await start({ trouble: { seed: 1, throttled: 0, unavailable: 0, stalled: 1 } })
  const given = new AbortController()
  const response = await post({ ...change, stream: true }, given.signal)
  await response.body?.getReader().read()
  given.abort()
  await waitUntil(() => model.calls[0]?.outcome === "cut", { describe: () => `cut: ${model.calls[0]?.outcome}` })
  expect(model.calls[0]?.output).toBeGreaterThan(0)
})

it("makes one call per step until its summary", async () => {
  await start({ oneCallPerStep: true })
  const names: Array<string> = []
  let messages: ChatRequest["messages"] = [{ role: "user", content: diff }]
  for (let step = 0; step < 9 && names.at(-1) !== "publish_summary"; step++) {
    const { calls } = await ask(chat(messages))
    expect(calls).toHaveLength(1)
    names.push(calls[0]?.name ?? "")
    const made = { name: calls[0]?.name ?? "", arguments: JSON.stringify(calls[0]?.input) }
    messages = [
      ...messages,
      { role: "assistant", content: null, tool_calls: [{ id: `call_${step}`, function: made }] },
      { role: "tool", content: "recorded", tool_call_id: `call_${step}` }
    ]
  }
  expect(names).toEqual(["fetch_more_context", "report_problem", "report_problem", "publish_summary"])
})

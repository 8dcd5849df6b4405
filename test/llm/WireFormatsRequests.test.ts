/** Requests that an agent may send in each format: every documented field and part has a verdict, and everything else is refused by name. */
import { describe, expect, it } from "vitest"
import { describeRefusal } from "../../src/llm/wire/shape/RefusedField.ts"
import { wireFormats } from "../../src/llm/WireFormats.ts"
import { isJson } from "../../src/llm/wire/WireJson.ts"
import recorded from "./wire/RecordedRequests.json" with { type: "json" }
import { requestCorpus } from "./wire/RequestCorpus.ts"
import type { Verdict } from "./wire/RequestCorpus.ts"

const formats = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"] as const

const cases = formats.flatMap((format) => {
  const { base, place, rows } = requestCorpus[format]
  return Object.entries(rows).flatMap(([group, list]) =>
    list.map(([verdict, value]) => {
      const body = place[group]?.(value)
      if (body === undefined) throw new Error(`${format} ${group}`)
      return { format, group, verdict, value, body, base }
    })
  )
})

/** Decoded from text, as requests arrive. */
const restrict = ({ body, format }: (typeof cases)[number], webSearch: boolean) => {
  const sent: unknown = JSON.parse(JSON.stringify(body))
  return wireFormats[format].restrict(isJson(sent) ? sent : {}, webSearch)
}

const isPassed = (verdict: Verdict, webSearch: boolean): boolean =>
  verdict === "pass" || (verdict === "search" && webSearch)

describe.each([false, true])("with web search permitted: %s", (webSearch) => {
  it.each(cases.filter(({ verdict }) => isPassed(verdict, webSearch)))(
    "$format sends the $group $value unchanged",
    (row) => {
      expect(restrict(row, webSearch)).toEqual({ body: row.body, removed: [] })
    }
  )

  it.each(cases.filter(({ verdict }) => verdict === "refuse"))("$format refuses the $group $value", (row) => {
    const { body, refused } = restrict(row, webSearch)
    expect(body).toEqual({})
    expect(refused === undefined ? "" : describeRefusal(row.format, refused)).toContain(`(${row.format})`)
  })

  it.each(cases.filter(({ verdict }) => verdict === "tool"))("$format sends no $group $value", (row) => {
    const { body, refused, removed } = restrict(row, webSearch)
    expect(refused).toBeUndefined()
    expect(removed).toHaveLength(1)
    expect(JSON.stringify(body)).not.toContain(removed[0])
    expect(JSON.stringify(body)).toContain('"read"')
  })
})

it.each(cases.filter(({ verdict }) => verdict === "search"))(
  "$format sends no $group $value without the permission",
  (row) => {
    const { body, refused, removed } = restrict(row, false)
    expect(refused !== undefined || removed.length === 1).toBe(true)
    expect(JSON.stringify(body)).not.toMatch(/search/i)
  }
)

it.each(cases.filter(({ verdict }) => verdict === "drop"))("$format is sent without the $group $value", (row) => {
  expect(restrict(row, false)).toEqual({ body: row.base, removed: [] })
})

it.each([
  [
    "openai-chat",
    { messages: [{ role: "user", content: [{ type: "video_url" }] }] },
    "messages[0].content[0]",
    "video_url"
  ],
  ["openai-chat", { messages: [], data_sources: [] }, "data_sources", "not a field"],
  ["openai-chat", { messages: [], n: 3 }, "n", "must be one of 1"],
  ["openai-responses", { input: [{ id: "msg_1" }] }, "input[0].role", "is missing"],
  [
    "anthropic-messages",
    { messages: [{ role: "user", content: [{ type: "image", source: { type: "url" } }] }] },
    "messages[0].content[0].source",
    "url"
  ],
  ["gemini", { contents: { parts: {} } }, "contents", "must be a list"],
  ["gemini", { contents: [{ parts: [{ file_data: {} }] }] }, "contents[0].parts[0].file_data", "not a field"]
] as const)("%s names what it refuses in %j", (format, body, path, words) => {
  const { refused } = wireFormats[format].restrict(body, false)
  if (refused === undefined) throw new Error("accepted")
  const sentence = describeRefusal(format, refused)
  expect(sentence).toContain(path)
  expect(sentence).toContain(words)
})

/** Fields that identify users and conversations; agents send them, and no provider gets them. */
const withoutIdentity = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutIdentity)
  if (!isJson(value)) return value
  const isItem = ["message", "reasoning", "function_call", "function_call_output"].some(
    (type) => value["type"] === type
  )
  const names = ["metadata", "client_metadata", "store", ...(isItem ? ["id"] : [])]
  const fields = Object.entries(value).filter(([name]) => !names.includes(name))
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutIdentity(field)]))
}

it.each(recorded)("a request of $cli $version is sent but for what identifies its user", (request) => {
  const format = formats.find((name) => name === request.format)
  if (format === undefined) throw new Error(request.format)
  const { body, refused, removed } = wireFormats[format].restrict(request.body, request.webSearch)
  expect({ refused, removed }).toEqual({ refused: undefined, removed: [] })
  const { store: _, ...sent } = body
  expect(sent).toEqual(withoutIdentity(request.body))
})

it("a name in another spelling, of a prototype or twice is refused like any other", () => {
  const bodies = [
    '{"messages":[],"__proto__":{"tools":[]}}',
    '{"messages":[],"constructor":{}}',
    '{"Messages":[]}',
    '{"messages":[{"role":"user","content":"x","__proto__":{"type":"file"}}]}',
    '{"messages":[{"role":"__proto__","content":"x"}]}',
    '{"messages":[{"role":"constructor","content":"x"}]}'
  ]
  for (const body of bodies) expect(wireFormats["openai-chat"].restrict(JSON.parse(body), false).refused).toBeDefined()
  const twice = { contents: [], generationConfig: {}, generation_config: { candidateCount: 8 } }
  expect(wireFormats.gemini.restrict(twice, false).refused?.reason).toEqual({ _tag: "RepeatedField" })
  const long = wireFormats["openai-chat"].restrict({ messages: [], ["\u0007 ".repeat(500)]: 1 }, false).refused
  expect(long === undefined ? "" : describeRefusal("openai-chat", long)).toMatch(/^[?]{1,60} is not a field/)
})

it("a choice of a tool that is removed is removed with it", () => {
  const { body } = wireFormats["anthropic-messages"].restrict(
    {
      messages: [],
      tools: [
        { name: "read", input_schema: {} },
        { type: "web_search_20250305", name: "web_search" }
      ],
      tool_choice: { type: "tool", name: "web_search" }
    },
    false
  )
  expect(body).toEqual({ messages: [], tools: [{ name: "read", input_schema: {} }] })
})

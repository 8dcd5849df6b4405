/** Another attempt at a review gets the recorded responses of a killed one from the proxy, and pays only for what is new. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Layer, Logger } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Budget } from "../../../src/llm/Budget.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { layerMemory } from "../../../src/llm/catalog/MemoryCatalogCache.ts"
import { Evidence } from "../../../src/llm/Evidence.ts"
import * as GatewayLayer from "../../../src/llm/GatewayLayer.ts"
import { Limiter } from "../../../src/llm/Limiter.ts"
import * as FileObjects from "../../../src/store/objects/FileObjects.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import type { FakeModel } from "../../harness/FakeModel.ts"
import { documentFor, protocols } from "../../llm/Protocols.ts"
import { withProxy } from "./ProxyFixture.ts"

let fake: FakeModel
let root: string
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "aicr-reuse-"))
  fake = await startFakeModel((_, number) => ({
    text: "I read.",
    calls: [{ name: "read", input: { path: `${number}.ts` } }],
    usage: { input: 1_000, output: 50, cached: 0 }
  }))
})
afterEach(async () => {
  await fake.close()
  rmSync(root, { recursive: true, force: true })
})

/** A process of its own over the same objects. */
const process = () =>
  GatewayLayer.layer.pipe(
    Layer.provide([Budget.layerMemory, Limiter.layerMemory, Catalog.layer.pipe(Layer.provide(layerMemory))]),
    Layer.provide(Evidence.layer.pipe(Layer.provide(FileObjects.layerFiles({ root })))),
    Layer.merge(Logger.layer([]))
  )

/** Agents add the time to their prompts. */
const bodyOf = (text: string, stream: boolean) => ({
  stream,
  messages: [{ role: "user", content: `${text}\nMessage time: ${new Date().toISOString()}` }],
  tools: [{ name: "read", input_schema: { type: "object" } }]
})

const attempt = async (kind: string, stream: boolean, texts: ReadonlyArray<string>, number: number) => {
  const protocol = protocols.find(({ name }) => name === kind)
  if (protocol === undefined) throw new Error(kind)
  const account = { id: `run-${number}`, repository: "r" }
  const responses: Array<string> = []
  const reports: Array<object> = []
  const before = fake.requests.length
  await withProxy(
    documentFor(protocol, fake.url),
    { format: "anthropic-messages" },
    async ({ post, report }) => {
      for (const text of texts) responses.push((await post("/v1/messages", bodyOf(text, stream))).text)
      reports.push(await report())
    },
    {
      account: number === 1 ? account : { ...account, resumes: { attempt: 2, earlier: ["run-1"] } },
      gateway: process()
    }
  )
  return { paid: fake.requests.length - before, responses, report: reports[0] }
}

describe.each(["anthropic", "openai_compatible", "google_ai_studio"])("an agent over %s", (kind) => {
  it.each([true, false])("in another attempt is sent the recorded response once, as a stream: %s", async (stream) => {
    const first = await attempt(kind, stream, ["one", "two"], 1)
    expect(first.paid).toBe(2)
    const second = await attempt(kind, stream, ["one", "two", "two"], 2)
    expect(second.paid).toBe(1)
    expect(second.responses[0]).toContain("0.ts")
    expect(second.responses[1]).toContain("1.ts")
    expect(second.responses[2]).toContain("2.ts")
    // Of a provider with the same API also what no other form has, such as signed reasoning.
    expect(kind === "anthropic" ? second.responses.slice(0, 2) : first.responses).toEqual(first.responses)
    expect(second.report).toMatchObject({ models: ["p/m"], usage: { requests: 1, inputTokens: 1_000 } })
  })

  it("in another attempt pays for the response that ended the conversation", async () => {
    fake.script({ text: "Done." })
    await attempt(kind, true, ["one"], 1)
    expect((await attempt(kind, true, ["one"], 2)).paid).toBe(1)
  })

  it("gets no stream in place of a whole response", async () => {
    await attempt(kind, true, ["one"], 1)
    const { paid, responses } = await attempt(kind, false, ["one"], 2)
    expect(paid).toBe(kind === "anthropic" ? 1 : 0)
    expect(JSON.parse(responses[0] ?? "")).toMatchObject({ type: "message" })
  })
})

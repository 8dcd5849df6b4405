import { Schema } from "effect"
import { Envelope } from "effect/cluster"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { pack, unpack } from "../../nats/AskMessages.ts"
import { frameWriter, readFrame } from "../../nats/RunnerFrames.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("frames", () => {
  it("carry any messages in order, in numbered frames within the limit", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue().filter((value) => JSON.stringify(value).length < 400)),
        fc.integer({ min: 1600, max: 4000 }),
        async (messages, limit) => {
          const sent: Array<Uint8Array> = []
          const { push } = frameWriter(
            () => limit,
            (frame) => sent.push(bytes(frame))
          )
          for (const message of messages) push(message)
          await Promise.resolve()
          const frames = sent.map(readFrame)
          expect(frames.map((frame) => frame?.number)).toEqual(frames.keys().toArray())
          // Converted to JSON and back.
          expect(frames.flatMap((frame) => frame?.messages ?? [])).toEqual(JSON.parse(JSON.stringify(messages)))
          expect(sent.filter(({ length }) => length > limit)).toEqual([])
        }
      )
    )
  })

  it("those of one turn go together", async () => {
    const sent: Array<string> = []
    const { push } = frameWriter(
      () => 1024,
      (frame) => sent.push(frame)
    )
    push({ a: 1 })
    push({ b: 2 })
    await Promise.resolve()
    push({ c: 3 })
    await Promise.resolve()
    expect(sent).toEqual([`[0,{"a":1},{"b":2}]`, `[1,{"c":3}]`])
  })

  it("a message over the limit is refused, the next one goes", async () => {
    const sent: Array<string> = []
    const { push } = frameWriter(
      () => 1024,
      (frame) => sent.push(frame)
    )
    expect(() => push("é".repeat(600))).toThrow(/1203 bytes, the server takes 992; raise max_payload/)
    push("next")
    await Promise.resolve()
    expect(sent).toEqual([`[0,"next"]`])
  })

  it("what is none is read as none", () => {
    for (const text of ["", "[", "{}", "[]", `["0",1]`, "null"]) expect(readFrame(bytes(text))).toBeUndefined()
    expect(() => fc.assert(fc.property(fc.uint8Array(), (data) => void readFrame(data)))).not.toThrow()
  })
})

describe("requests", () => {
  const decode = Schema.decodeUnknownSync(Schema.toCodecJson(Envelope.PartialRequest))
  const request = {
    _tag: "Request",
    requestId: "249672078670737408",
    address: { shardId: { group: "executor", id: 5 }, entityType: "There", entityId: "a/ü b" },
    tag: "Echo",
    payload: { text: "hi" },
    headers: {}
  }

  it.each([
    request,
    { ...request, headers: { "x-a": "1" } },
    { ...request, traceId: "f7e538831ec305d7", spanId: "81b44cd1", sampled: false }
  ])("come out as they went in: %j", (encoded) => {
    const whole = decode(encoded)
    const there = unpack(JSON.parse(JSON.stringify(pack(whole))))
    expect(there).toEqual(whole)
    expect(String(there.address)).toBe(String(whole.address))
  })
})

import { describe, expect, it } from "vitest"
import { check, property, uint8Array } from "fast-check"
import { Fragments } from "../../../src/chat/feishu/Session.ts"
import { decodeFrame, encodeFrame, pingFrame } from "../../../src/chat/feishu/Frame.ts"

const ping = "08001000180720002a0c0a0474797065120470696e67"

describe("frames", () => {
  it("equal the ping of the vendor's client", () => {
    expect(Buffer.from(encodeFrame(pingFrame(7))).toString("hex")).toBe(ping)
    expect(decodeFrame(Buffer.from(ping, "hex"))).toEqual({
      seqId: 0n,
      logId: 0n,
      service: 7,
      method: 0,
      headers: [["type", "ping"]]
    })
  })

  it("survive a round trip, with identifiers of 64 bits", () => {
    const frame = {
      seqId: 12_345_678_901_234n,
      logId: 2n ** 63n,
      service: 33_554_678,
      method: 1,
      headers: [
        ["type", "event"],
        ["message_id", "m"]
      ],
      payloadEncoding: "json",
      payloadType: "text",
      payload: Uint8Array.from(Buffer.from('{"schema":"2.0"')),
      logIdNew: "x"
    } as const
    expect(decodeFrame(encodeFrame(frame))).toEqual(frame)
  })

  it("never throw on other bytes", () => {
    const headers = (bytes: Uint8Array): number => decodeFrame(bytes)?.headers.length ?? 0
    const isBounded = property(uint8Array({ maxLength: 200 }), (bytes) => headers(bytes) <= 64)
    expect(check(isBounded).failed).toBe(false)
  })
})

describe("fragments", () => {
  const part = (seq: number, sum = 3) => ({ id: "m", sum, seq, payload: Buffer.from(`${seq}`) })

  it("are joined in any order, and each counts once", () => {
    const fragments = new Fragments()
    expect(fragments.add(part(2), 0)).toBeUndefined()
    expect(fragments.add(part(0), 1)).toBeUndefined()
    expect(fragments.add(part(0), 1)).toBeUndefined()
    expect(Buffer.from(fragments.add(part(1), 2) ?? []).toString()).toBe("012")
  })

  it("are dropped when one is lost or does not fit", () => {
    const fragments = new Fragments()
    fragments.add(part(0), 0)
    fragments.add(part(1), 0)
    expect(fragments.add(part(2), 10_001)).toBeUndefined()
    expect(fragments.add(part(5), 0)).toBeUndefined()
    expect(fragments.add(part(0, 1000), 0)).toBeUndefined()
  })
})

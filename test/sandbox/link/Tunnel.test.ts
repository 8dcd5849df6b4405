/** Connections over one stream: both ends, flow control, and streams of bytes that no end sends. */
import { once } from "node:events"
import { PassThrough } from "node:stream"
import type { Duplex } from "node:stream"
import { text } from "node:stream/consumers"
import { describe, expect, it } from "vitest"
import { TunnelFrames, startTunnel, window } from "../../../src/sandbox/link/Tunnel.ts"
import type { TunnelTarget } from "../../../src/sandbox/link/Tunnel.ts"
import { waitUntil } from "../../harness/Wait.ts"

/** Two ends, the outer of which keeps what is opened. */
const pair = () => {
  const [there, back] = [new PassThrough(), new PassThrough()]
  const accepted: Array<readonly [TunnelTarget, Duplex]> = []
  const ends: Array<string | undefined> = []
  const inner = startTunnel(
    { input: back, output: there },
    (_, connection) => connection.destroy(),
    () => {}
  )
  startTunnel(
    { input: there, output: back },
    (target, connection) => accepted.push([target, connection]),
    (problem) => ends.push(problem)
  )
  const open = async (target: TunnelTarget) => {
    const at = accepted.length
    const inside = inner.open(target)
    await waitUntil(() => accepted.length > at, { describe: () => "the connection is accepted" })
    const outside = accepted[at]?.[1]
    if (outside === undefined) throw new Error("no connection")
    return { inside, outside }
  }
  return { there, accepted, ends, open }
}

describe("a connection", () => {
  it("carries bytes in both directions, and each end of its own", async () => {
    const { accepted, open } = pair()
    const { inside, outside } = await open("tools")
    const large = "ü".repeat(500_000)
    inside.end(large)
    expect(await text(outside)).toBe(large)
    outside.end("reply")
    expect(await text(inside)).toBe("reply")
    expect(accepted.map(([target]) => target)).toEqual(["tools"])
  })

  it("without a reader blocks its writer, and no other connection", async () => {
    const { open } = pair()
    const [blocked, other] = [await open("model"), await open("tools")]
    let written = 0
    const chunk = Buffer.alloc(8192)
    const fill = () => {
      while (written < 100 * window && blocked.inside.write(chunk)) written += chunk.length
    }
    blocked.inside.on("drain", fill)
    fill()
    other.inside.end("passes")
    expect(await text(other.outside)).toBe("passes")
    expect(written).toBeLessThan(3 * window)
    blocked.outside.resume()
    await waitUntil(() => written >= 100 * window, { describe: () => `${written} bytes written` })
  })

  it("closes with its other end", async () => {
    const { open } = pair()
    const { inside, outside } = await open("model")
    outside.destroy()
    await once(inside, "close")
    expect(inside.destroyed).toBe(true)
  })
})

describe("a tunnel", () => {
  it("ends with its stream, and all its connections with it", async () => {
    const { ends, open, there } = pair()
    const { outside } = await open("model")
    there.end()
    await once(outside, "close")
    expect(ends).toEqual([undefined])
  })

  const frame = (type: number, id: number, content: Buffer) => {
    const header = Buffer.alloc(7)
    header.writeUInt8(type, 0)
    header.writeUInt32BE(id, 1)
    header.writeUInt16BE(content.length, 5)
    return Buffer.concat([header, content])
  }
  const opened = frame(1, 7, Buffer.from([0]))
  it.each([
    ["an unknown type", frame(9, 1, Buffer.alloc(0)), /type 9 do not exist/],
    ["an unknown target", frame(1, 1, Buffer.from([99])), /opened wrongly/],
    ["a connection that exists", Buffer.concat([opened, opened]), /opened wrongly/],
    ["a frame that is too long", frame(2, 7, Buffer.alloc(20_000)), /20000 bytes is too long/],
    [
      "more data than was granted",
      Buffer.concat([opened, ...Array.from({ length: 9 }, () => frame(2, 7, Buffer.alloc(16_000)))]),
      /more than it may/
    ]
  ])("ends at %s", async (_, bytes, problem) => {
    const { ends, there } = pair()
    there.write(bytes)
    await waitUntil(() => ends.length > 0, { describe: () => "the tunnel has ended" })
    expect(ends[0]).toMatch(problem)
  })

  it("ignores frames of connections that it does not have", async () => {
    const { ends, open, there } = pair()
    for (const type of [2, 3, 4, 5]) there.write(frame(type, 4_000_000_000, Buffer.alloc(4)))
    const { inside, outside } = await open("model")
    inside.end("text")
    expect(await text(outside)).toBe("text")
    expect(ends).toEqual([])
  })

  it("refuses connections beyond its limit", async () => {
    const { accepted, there } = pair()
    for (let id = 1; id <= 400; id++) there.write(frame(1, id, Buffer.from([0])))
    await waitUntil(() => accepted.length >= 300, { describe: () => `${accepted.length} connections` })
    await new Promise(setImmediate)
    expect(accepted).toHaveLength(300)
  })

  it.each([1, 2, 7, 100])("parses frames in parts of %i bytes", (size) => {
    const all = Buffer.concat([opened, frame(2, 7, Buffer.from("content")), frame(4, 7, Buffer.alloc(0))])
    const parser = new TunnelFrames()
    const frames = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
      parser.parse(all.subarray(at * size, (at + 1) * size))
    ).flat()
    expect(frames.map(({ content, id, type }) => [type, id, content.toString()])).toEqual([
      [1, 7, "\0"],
      [2, 7, "content"],
      [4, 7, ""]
    ])
  })
})

it("ends with an end that sends, and does not read", async () => {
  const [there, back] = [new PassThrough(), new PassThrough({ highWaterMark: 16_384 })]
  // Most of what may wait is there already: millions of small frames take long to write.
  for (const size of [16_384, 31_457_280]) back.write(Buffer.alloc(size))
  const ended = Promise.withResolvers<string | undefined>()
  startTunnel(
    { input: there, output: back },
    () => {},
    (problem) => ended.resolve(problem)
  )
  const frames = (from: number, count: number) =>
    Buffer.concat(
      Array.from({ length: count }, (_, id) => {
        const frame = Buffer.from([1, 0, 0, 0, 0, 0, 1, 0])
        frame.writeUInt32BE(from + id, 1)
        return frame
      })
    )
  there.write(frames(1, 300))
  // Above the number of connections, each frame that opens one causes another.
  const open = frames(301, 20_000)
  for (let round = 0; round < 400 && !there.destroyed; round++) {
    there.write(open)
    await new Promise(setImmediate)
  }
  expect(there.destroyed).toBe(true)
  expect(await ended.promise).toBe("its other end does not read")
}, 60_000)

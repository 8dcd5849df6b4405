/** Output of an attached container, in arbitrary parts. */
import { PassThrough } from "node:stream"
import { text } from "node:stream/consumers"
import { expect, it } from "vitest"
import { demultiplex } from "../../../src/sandbox/container/Demultiplex.ts"

const frame = (stream: number, content: string): Buffer => {
  const header = Buffer.alloc(8)
  header.writeUInt8(stream, 0)
  header.writeUInt32BE(Buffer.byteLength(content), 4)
  return Buffer.concat([header, Buffer.from(content)])
}
const all = Buffer.concat([
  frame(1, "out 1\n"),
  frame(2, "err €\n"),
  frame(1, ""),
  frame(1, "out 2\n".repeat(2000)),
  frame(2, "end")
])

const separate = async (chunks: ReadonlyArray<Buffer>) => {
  const attached = new PassThrough()
  const { stderr, stdout } = demultiplex(attached)
  for (const chunk of chunks) attached.write(chunk)
  attached.end()
  return Promise.all([text(stdout), text(stderr)])
}
const inParts = (size: number) =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.subarray(at * size, (at + 1) * size))

it.each([1, 3, 8, 9, 1000, all.length])("in parts of %i bytes", async (size) =>
  expect(await separate(inParts(size))).toEqual([`out 1\n${"out 2\n".repeat(2000)}`, "err €\nend"])
)

it("ends with a connection that breaks within a frame", async () => {
  const attached = new PassThrough()
  const { stderr, stdout } = demultiplex(attached)
  attached.write(all.subarray(0, 11))
  setImmediate(() => attached.destroy(new Error("reset")))
  expect(await Promise.all([text(stdout), text(stderr)])).toEqual(["out", ""])
})

it("waits for a reader that is slow", async () => {
  const attached = new PassThrough({ highWaterMark: 1024 })
  const { stdout } = demultiplex(attached)
  const content = frame(1, "x".repeat(1_000_000))
  attached.write(content)
  await new Promise((resolve) => stdout.once("readable", resolve))
  await new Promise(setImmediate)
  for (let at = 0; at < 50; at++) attached.write(content)
  await new Promise(setImmediate)
  expect(attached.writableLength).toBeGreaterThan(10_000_000)
  expect(stdout.readableLength).toBeLessThan(3_000_000)
  attached.destroy()
})

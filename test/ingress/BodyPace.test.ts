/** Large bodies are read in portions per iteration of the event loop, so that a dozen of them block nothing else. */
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, it } from "vitest"
import { BodyReader } from "../../src/ingress/Body.ts"

const mebibyte = 1024 * 1024
const chunk = Buffer.alloc(64 * 1024)
const limits = { totalBytes: 64 * mebibyte, clientBytes: 64 * mebibyte, minRate: 0, graceMillis: 60_000 }

const open = (reader: BodyReader) => {
  const request = new IncomingMessage(new Socket())
  const body = reader.read(request, 32 * mebibyte, "192.0.2.1", () => undefined)
  return { request, body }
}

/** Returns the number of chunks that a request takes before it is paused, at most `most`. */
const fill = (request: IncomingMessage, most: number): number => {
  for (let sent = 0; sent < most; sent++) {
    if (request.isPaused()) return sent
    request.emit("data", chunk)
  }
  return most
}

it("pauses large bodies beyond 1 MiB a turn, all together, and reads on in the next turn", async () => {
  const reader = new BodyReader(limits)
  const [first, second] = [open(reader), open(reader)]
  expect(fill(first.request, 400)).toBe(17)
  expect(fill(second.request, 400)).toBe(2)
  await nextTurn()
  expect([first, second].map(({ request }) => request.isPaused())).toEqual([false, false])
  expect(fill(second.request, 400)).toBe(16)
  first.request.emit("end")
  second.request.emit("end")
  const sizes = await Promise.all([first.body, second.body])
  expect(
    sizes.map((body) => (body._tag === "Read" ? body.blocks.reduce((sum, { length }) => sum + length, 0) : 0))
  ).toEqual([17, 18].map((chunks) => chunks * chunk.length))
})

it("reads small bodies whatever large ones do, and leaves one paused that is given up", async () => {
  const reader = new BodyReader(limits)
  const [large, small] = [open(reader), open(reader)]
  fill(large.request, 400)
  expect(fill(small.request, 1)).toBe(1)
  expect(small.request.isPaused()).toBe(false)
  large.request.emit("close")
  expect(await large.body).toEqual({ _tag: "Aborted" })
  await nextTurn()
  expect(large.request.isPaused()).toBe(true)
})

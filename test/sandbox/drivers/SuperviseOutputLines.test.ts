/** Lines of the output of a program. */
import { PassThrough } from "node:stream"
import { expect, it } from "vitest"
import { maxLineChars, OutputLines, splitLines } from "../../../src/sandbox/drivers/Supervise.ts"

const linesOf = async (chunks: ReadonlyArray<string | Buffer>, isOver = () => false) => {
  const output = new PassThrough({ highWaterMark: 1 << 24 })
  for (const chunk of chunks) output.write(chunk)
  output.end()
  const lines: Array<string> = []
  for await (const some of splitLines(output, () => {}, isOver)) lines.push(...some)
  return lines
}
const euro = Buffer.from("€")

it.each([
  ["nothing", [], []],
  ["a line without its end", ["a"], ["a"]],
  ["empty lines", ["\n\n"], ["", ""]],
  ["lines in parts", ["a", "b\nc", "d\n"], ["ab", "cd"]],
  ["a character in parts", [euro.subarray(0, 1), euro.subarray(1), "\n"], ["€"]]
])("%s", async (_, chunks, lines) => expect(await linesOf(chunks)).toEqual(lines))

it("cuts a long line, whole or in parts", async () => {
  const half = "x".repeat(maxLineChars - 10)
  const [at, parts] = [await linesOf([`${half}${half}\nnext\n`]), await linesOf([half, half, half, "\nnext\n"])]
  expect(at?.map((line) => line.length)).toEqual([maxLineChars, 4])
  expect(parts?.map((line) => line.length)).toEqual([maxLineChars, 4])
})

it("takes no longer for bytes beyond the limit of a line than for those of a short line", () => {
  const millis = (start: string) => {
    const lines = new OutputLines()
    lines.add(start)
    const from = performance.now()
    for (let at = 0; at < 5000; at++) lines.add("x")
    return performance.now() - from
  }
  millis("x")
  expect(millis("x".repeat(maxLineChars))).toBeLessThan(20 * millis("x") + 10)
})

it("ends when the sandbox is ended", async () => expect(await linesOf(["a\nb\n"], () => true)).toEqual([]))

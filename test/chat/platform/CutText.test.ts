/** Texts that are cut to the number of bytes that a platform accepts. */
import { expect, it } from "vitest"
import { cutBytes } from "../../../src/chat/platform/CutText.ts"

const bytes = (text: string) => Buffer.byteLength(text)

it("a text of exactly the limit is whole, and one byte more is cut", () => {
  const text = `first\n${"x".repeat(94)}`
  expect([cutBytes(text, 100), cutBytes(`${text}y`, 100)]).toEqual([text, "first\n…"])
})

it.each([100, 101, 102])("a line of characters with three bytes is cut between them, at %i bytes", (max) => {
  const cut = cutBytes("字".repeat(100), max)
  expect(bytes(cut)).toBeLessThanOrEqual(max)
  expect(cut).toMatch(/^字{10,}\n…$/u)
})

it("a code block that is cut is closed", () => {
  const cut = cutBytes(`\`\`\`ts\n${"const a = 1\n".repeat(100)}\`\`\`\nend`, 200)
  expect(bytes(cut)).toBeLessThanOrEqual(200)
  expect(cut).toMatch(/const a = 1\n```\n…$/)
})

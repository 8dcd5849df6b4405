/** A repeated sentence of a model is kept once. */
import { expect, it } from "vitest"
import { withoutRepetition } from "../../src/review/Repetition.ts"

const one = "The cart is read before it is locked."
const two = "A second request then removes it."

it.each([
  ["what says nothing twice", `${one} ${two}\n\n- a\n- a\n`, `${one} ${two}\n\n- a\n- a\n`],
  ["a sentence that does not end", Array.from({ length: 50 }, () => one).join(" "), one],
  ["a line that does not end", Array.from({ length: 50 }, () => `- ${one}`).join("\n"), `- ${one}`],
  ["sentences in turns", `${one} ${two} ${one} ${two}`, `${one} ${two}`],
  ["another case of letters", `${one} ${one.toUpperCase()}`, one],
  [
    "Chinese",
    "购物车在加锁之前就已经被读取，因此另一个请求可能会删除它。购物车在加锁之前就已经被读取，因此另一个请求可能会删除它。",
    "购物车在加锁之前就已经被读取，因此另一个请求可能会删除它。"
  ],
  [
    "code, which is kept",
    "```ts\nconst total = items.length\nconst total = items.length\n```",
    "```ts\nconst total = items.length\nconst total = items.length\n```"
  ],
  ["versions and names with dots", "Use node.js 24.1.2 in the build file.", "Use node.js 24.1.2 in the build file."]
])("of %s", (_, text, expected) => {
  expect(withoutRepetition(text)).toBe(expected)
})

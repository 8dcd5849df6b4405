/** Keys of quoted code: found again under any layout, not found once the code is gone, and without secrets. */
import { describe, expect, it } from "vitest"
import type { Anchored } from "../../src/review/Anchor.ts"
import { codeKey, endedKeys, heldKeys } from "../../src/review/CodeKey.ts"

const anchored = (code: string, side: "new" | "old" = "new") =>
  ({ code, anchor: { path: "a.ts", side, line: 1 } }) satisfies Pick<Anchored, "code" | "anchor">
const keyOf = (code: string, quote = code): string => codeKey({ quote }, anchored(code), undefined) ?? ""
const ended = (text: string, key: string) => endedKeys(text, [key])[0]

describe("code of the new side", () => {
  const code = "const total = price * (count - 1)"
  it.each<readonly [string, string, boolean]>([
    ["the same", `before\n${code}\nafter`, false],
    ["other indentation and line ends", `before\r\n\t\t${code}\r\nafter`, false],
    ["wrapped lines", "const total =\n    price *\n\n    (count - 1)", false],
    ["further code on its line", `if (x) { ${code} } // why`, false],
    ["another place", `${"line\n".repeat(5000)}${code}`, false],
    ["a change of one character", code.replace("1", "2"), true],
    ["one character less", code.slice(0, -1), true],
    ["an empty file", "", true],
    ["a shorter file", "const", true]
  ])("%s", (_, text, isEnded) => {
    expect(ended(text, keyOf(code))).toBe(isEnded)
    expect(heldKeys(text, [keyOf(code)])).toEqual([!isEnded])
  })

  it("is the quote where that is a part of the anchored line", () => {
    const key = keyOf("  return send(input, true) // as before", "send(input, true)")
    expect(ended("const sent = send(input, true)", key)).toBe(false)
    expect(ended("const sent = send(input)", key)).toBe(true)
  })

  it("is the anchored lines where the quote is not in them", () => {
    const key = keyOf("first(line)", "first(line)\n...\nlast(line)")
    expect(ended("first(line)", key)).toBe(false)
    expect(ended("last(line)", key)).toBe(true)
  })

  it("finds each of many keys among generated texts exactly where it is", () => {
    // A deterministic generator with few words, so that parts repeat.
    let seed = 7
    const next = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below
    const line = () => Array.from({ length: 3 + next(6) }, () => ["a1", "bb", "(", ")", "=", "c_c"][next(6)]).join(" ")
    for (let round = 0; round < 200; round++) {
      const lines = Array.from({ length: 30 }, line)
      const at = next(28)
      const codes = [lines[at] ?? "", `${lines[at]}\n${lines[at + 1]}`, line(), line()]
      const keys = codes.map((one) => keyOf(one))
      const text = lines.join("\n")
      const squeezed = text.replace(/\s/g, "")
      const expected = codes.map((one, i) => keys[i] !== "" && !squeezed.includes(one.replace(/\s/g, "")))
      expect(endedKeys(text, keys)).toEqual(expected)
    }
  })
})

describe("code of the old side", () => {
  it("ends when the file has the removed code as often as before", () => {
    const before = "check(a)\nuse(a)\ncheck(a)\n"
    const key = codeKey({ quote: "check(a)" }, anchored("check(a)", "old"), before) ?? ""
    expect(ended("check(a)\nuse(a)\n", key)).toBe(false)
    expect(ended("use(a)\n", key)).toBe(false)
    expect(ended("  check( a )\nuse(a)\nif (b) check(a)\n", key)).toBe(true)
    expect(heldKeys(before, [key])).toEqual([false])
  })

  it("has no key without the file that it was removed from", () => {
    expect(codeKey({ quote: "check(a)" }, anchored("check(a)", "old"), undefined)).toBeUndefined()
  })
})

it("has no key for too little code, and nothing is ended by an invalid one", () => {
  expect(keyOf("});")).toBe("")
  expect(endedKeys("text", ["", "+", "+0.0.0123456789abcdef", "-0.4.1.0123456789abcdef", "x".repeat(99)])).toEqual(
    Array.from({ length: 5 }, () => false)
  )
})

it("contains nothing of a secret: two different secrets in the same code have one key", () => {
  const scrubbed = 'login("admin", "[secret removed]")'
  const key = keyOf(scrubbed)
  expect(ended('login("admin", "hunter2-hunter2")', key)).toBe(false)
  expect(ended('login("admin", "another-one")', key)).toBe(false)
  expect(ended("login(user, password)", key)).toBe(true)
})

it("takes time in proportion to the text, also for repetitive code", () => {
  const key = keyOf("ab".repeat(500))
  const removed = codeKey({ quote: "abab" }, anchored("abab", "old"), "ab".repeat(400)) ?? ""
  const started = performance.now()
  endedKeys(`${"ab".repeat(499)}x`.repeat(1000), [key, removed])
  expect(performance.now() - started).toBeLessThan(2000)
})

/** Our count of tokens is that of the tokenizer whose vocabulary it uses. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { countTokens as reference } from "gpt-tokenizer/encoding/o200k_base"
import { describe, expect, it } from "vitest"
import { countTokens, estimateTokens } from "../../src/review/Tokens.ts"
import { isWhole } from "../harness/Samples.ts"

const plain = { disallowedSpecial: new Set<string>() }
const root = join(import.meta.dirname, "../..")

describe("countTokens", () => {
  it("counts every line and file of this repository as the tokenizer does", () => {
    let files = 0
    const wrong: Array<string> = []
    for (const folder of ["src", "test", "docs"]) {
      for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
        if (!/\.(ts|md|js|py|go|rs|java|json)$/.test(name) || name.includes("node_modules")) continue
        const text = readFileSync(join(root, folder, name), "utf8")
        if (text.length > 200_000 || /\S{512}/.test(text)) continue
        files++
        if (!isWhole("AICR_TEST_TEXTS") && files % 5 !== 0) continue
        const texts = [
          ...text.split("\n"),
          ...(files % 40 === 0 || (isWhole("AICR_TEST_TEXTS") && files % 8 === 0) ? [text] : [])
        ]
        wrong.push(...texts.filter((each) => countTokens(each) !== reference(each, plain)))
      }
    }
    expect(wrong).toEqual([])
    expect(files).toBeGreaterThan(300)
  })

  it("counts any text as the tokenizer does", () => {
    const code = fc.constantFrom(
      ..."aZ9 \t\r\n\v\f'\"/\\.,;(){}[]<>|&^%$#@!~`-_=+*:?\u0000\u007f\u001c",
      "  ",
      "'s",
      "'LL",
      "'Ve",
      "'rE",
      "//\n/",
      "HTTPServer",
      "über",
      "日本語",
      "👩‍👩‍👧",
      "ǅ",
      "\u00a0",
      "\u2028",
      "e\u0301",
      "١٢٣٤",
      "<|endoftext|>"
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(code, code, fc.string()), { maxLength: 40 }), (parts) => {
        const text = parts.join("")
        expect(countTokens(text)).toBe(reference(text, plain))
      }),
      { numRuns: 3000 }
    )
  })

  it("takes long words in parts, and their time with them", () => {
    const started = performance.now()
    expect(countTokens("aB3".repeat(200_000))).toBeGreaterThan(100_000)
    expect(countTokens("é".repeat(300_000))).toBeGreaterThan(10_000)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

describe("estimateTokens", () => {
  it("is not below the count for lines of code", () => {
    const lines = readFileSync(join(root, "src/review/Tokens.ts"), "utf8").split("\n")
    const [estimated, counted] = [estimateTokens, countTokens].map((count) =>
      lines.reduce((sum, line) => sum + count(line), 0)
    )
    expect(estimated).toBeGreaterThanOrEqual(counted ?? 0)
  })
})

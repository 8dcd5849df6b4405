/** Text of outsiders is shown to the letter and has no effect. */
import { describe, expect, it } from "vitest"
import { verbatimFence } from "../../src/outputs/text/Grammars.ts"
import { gfm } from "../../src/outputs/SafeText.ts"
import { faults } from "./LiveMarkup.ts"

const z = "\u200b"
const { markdown, line, plain, codeSpan, codeBlock } = gfm

describe("markdown from a model", () => {
  it.each<readonly [what: string, given: string, made: string]>([
    ["mentions nobody", "ask @dana or @team/all", `ask @${z}dana or @${z}team/all`],
    ["makes no link of a mail address", "mail a@b.org", `mail a@${z}b.org`],
    ["shows code as it is", "use `@Inject<T>` here", "\n\nuse `@Inject<T>` here"],
    ["shows fenced code as it is", "```java\n@Test <T>\n```", "\n\n```java\n@Test <T>\n```\n"],
    ["shows tags instead of obeying them", "<img src=x> a < b", "&lt;img src=x> a &lt; b"],
    ["hides nothing", "<!-- rest", "&lt;!-- rest"],
    ["runs no quick action", "/merge\n  /close now", `/${z}merge\n/${z}close now`],
    ["closes an open fence", "```ts\nlet x", "\n\n```ts\nlet x\n```\n"],
    ["is not fooled by a shorter fence", "````\n```\n@x\n````", "\n\n````text\n```\n@x\n````\n"],
    ["is not fooled by unbalanced ticks", "a ` b @dana", `a &#96; b @${z}dana`],
    ["keeps lists and emphasis", "1. *a*\n2. b\n   - **c**", "\n\n1. *a*\n2. b\n\n   - **c**\n"],
    ["keeps quotations", "> a\n>\n> b", "\n\n> a\n>\n> b\n"],
    ["has no headings", "# A\nb\n===", "**A**\n\n**b**"],
    ["shows a table as it was written", "| a |\n| - |\n| b |", "\n\n```text\n| a |\n| - |\n| b |\n```\n"],
    ["shows where a link leads", "[a](https://b.c/d)", "\n\n&#91;a&#93;(`https://b.c/d`)"],
    ["offers no code for a commit", "```suggestion\na\n```", "\n\n```text\na\n```\n"],
    ["refers to no issue", "fixes #1, GH-12 and a/b#3", `fixes #${z}1, GH-${z}12 and a/b#${z}3`],
    ["refers to no commit", "see deadbeef12", "\n\nsee `deadbeef12`"],
    ["reads character references", "&#64;dana &lt;b&gt;", `@${z}dana &lt;b>`],
    ["shows what reverses the direction", "a\u202eb\u0000", "a\ufffdb\ufffd"]
  ])("%s", (_, given, made) => {
    expect(markdown(given)).toBe(made)
  })

  it("stays in one line and one cell", () => {
    expect(line("a\n| b |\r\n@c `d|e`")).toBe(`a &#124; b &#124; @${z}c \`d\\|e\``)
  })

  it("is shown without markup where it is a name", () => {
    expect(plain("__init__ `a`\n# b")).toBe("&#95;&#95;init&#95;&#95; &#96;a&#96; # b")
  })

  it("cannot leave a code span", () => {
    expect(codeSpan("a`b``c")).toBe("``a`b`" + z + "`c``")
    expect(codeSpan("`")).toBe("`` ` ``")
    expect(codeSpan("x\n\ny|z")).toBe("`x y\\|z`")
    expect(codeSpan("\u{e0001}")).toBe("")
    expect(codeSpan("a\u200b\u202e\u2060.ts")).toBe("`a\ufffd\ufffd\ufffd.ts`")
    expect(plain("a\u200b\u202e\u2060.ts")).toBe("a\ufffd\ufffd\ufffd.ts")
  })

  it("cannot leave a fence", () => {
    expect(codeBlock("", "a\n```\nb\n")).toBe("\n\n````text\na\n```\nb\n````\n")
    expect(codeBlock("", "```\n/close\n")).toBe(`\n\n\`\`\`\`text\n\`\`\`\n/${z}close\n\`\`\`\`\n`)
  })

  it("begins no command after a fence that a reader of three ticks does not see end", () => {
    expect(faults(`${markdown("````\n```\n````")}${codeBlock("", "/merge")}`)).toEqual([])
  })

  it("offers for a commit only what can be written to the letter", () => {
    expect(verbatimFence("suggestion", "a\n\n\nb\n")).toBe("\n\n```suggestion\na\n\n\nb\n```\n")
    expect(verbatimFence("suggestion", 'x <!-- aicr:v1 {"op":"y"} -->')).toBeUndefined()
    expect(verbatimFence("suggestion", "a\u202e")).toBeUndefined()
    expect(verbatimFence("suggestion", "```\n/close")).toBeUndefined()
  })

  it("takes time in proportion to its length", () => {
    const hostile = ["*a ", "[", "`a``b", "```\n", "![[](", "a+a://", "A", "> - ", "\\", "@", "&#x", "_a*"]
    const time = (length: number) => {
      const start = performance.now()
      for (const part of hostile) {
        const text = part.repeat(length / part.length)
        markdown(text)
        line(text)
        plain(text)
      }
      return performance.now() - start
    }
    time(2000)
    // What is longer than is shown costs nothing.
    expect(time(320_000)).toBeLessThan(8 * (time(32_000) + 20))
  })
})

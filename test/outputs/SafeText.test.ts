/** Text from elsewhere says what it says and does nothing. */
import { describe, expect, it } from "vitest"
import { codeSpan, fenced, safeLine, safeMarkdown } from "../../src/outputs/SafeText.ts"

const z = "\u200b"

describe("markdown from a model", () => {
  it.each<readonly [what: string, given: string, made: string]>([
    ["mentions nobody", "ask @dana or @team/all", `ask @${z}dana or @${z}team/all`],
    ["leaves mail addresses", "mail a@b.org", "mail a@b.org"],
    ["shows code as it is", "use `@Inject<T>` here", "use `@Inject<T>` here"],
    ["shows fenced code as it is", "```java\n@Test <T>\n```", "```java\n@Test <T>\n```"],
    ["shows tags instead of obeying them", "<img src=x> a < b", "&lt;img src=x> a < b"],
    ["hides nothing", "<!-- rest", "&lt;!-- rest"],
    ["runs no quick action", "/merge\n  /close now", `\\/merge\n  \\/close now`],
    ["closes an open fence", "```ts\nlet x", "```ts\nlet x\n```"],
    ["is not fooled by a shorter fence", "````\n```\n@x\n````", "````\n```\n@x\n````"],
    ["is not fooled by unbalanced ticks", "a ` b @dana", `a \` b @${z}dana`]
  ])("%s", (_, given, made) => {
    expect(safeMarkdown(given)).toBe(made)
  })

  it("stays in one line and one cell", () => {
    expect(safeLine("a\n| b |\r\n@c")).toBe(`a \\| b \\| @${z}c`)
  })

  it("cannot leave a code span", () => {
    expect(codeSpan("a`b``c")).toBe("```a`b``c```")
    expect(codeSpan("`")).toBe("`` ` ``")
    expect(codeSpan("x\n\ny|z")).toBe("`x\ufffd\ufffdy\\|z`")
  })

  it("cannot leave a fence", () => {
    expect(fenced("suggestion", "a\n```\nb\n")).toBe("````suggestion\na\n```\nb\n````")
    expect(fenced("", 'x <!-- aicr:v1 {"op":"y"} -->')).toBeUndefined()
  })
})

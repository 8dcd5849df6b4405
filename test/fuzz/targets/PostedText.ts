/** Text of models and authors on its way into a comment or a chat message, and bytes of a file on their way to a model. */
import { Parser } from "commonmark"
import { decodeText } from "../../../src/domain/TextContent.ts"
import { safeTexts } from "../../../src/outputs/SafeText.ts"
import { inputs } from "../../outputs/HostileText.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure, text } from "../Target.ts"

const active = new Set(["html_block", "html_inline", "image", "link"])

/** The first node of a comment that does something on its page. */
const activeNode = (comment: string): string | undefined => {
  const walker = new Parser().parse(comment).walker()
  for (let step = walker.next(); step !== null; step = walker.next()) {
    if (active.has(step.node.type)) return step.node.type
  }
  return undefined
}

const comment: FuzzTarget = {
  name: "comment-text",
  maxBytes: 4096,
  seeds: () => inputs.filter((_, index) => index % 7 === 0).map(bytes),
  words: [
    "```",
    "~~~",
    "<!--",
    "-->",
    "](",
    "![",
    "<a ",
    "</",
    "&lt;",
    "&#60;",
    "\\",
    "\n/merge",
    "@everyone",
    "|",
    "> ",
    "    "
  ],
  check: (input) => {
    const written = text(input)
    const { line, markdown } = safeTexts.gfm
    const alone = [markdown(written), line(written)]
    // A template of an operator may put a value behind text of its own.
    for (const posted of [...alone, ...alone.flatMap((value) => [`Problem: ${value}`, `- Problem: ${value}`])]) {
      const found = activeNode(posted)
      ensure(found === undefined, `text of outsiders is inert, but ${JSON.stringify(posted)} has ${found}`)
      ensure(!/^\/[a-z]/m.test(posted.replace(/^```.+?\n```$/gms, "")), "no line is a quick action")
    }
    safeTexts.feishu.markdown(written)
    safeTexts.wecom.markdown(written)
  }
}

const file: FuzzTarget = {
  name: "file-content",
  maxBytes: 65_536,
  seeds: () => [
    bytes("plain\ntext\n"),
    Buffer.from("\ufeffwide text, little-endian", "utf16le"),
    Buffer.from("wide text, big-endian", "utf16le").swap16(),
    bytes("a NUL \0 in a comment"),
    Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")
  ],
  words: ["\ufeff", "\0", "\0\0", "\u0001"],
  check: (input) => {
    const decoded = decodeText(input)
    if (decoded === undefined) return
    ensure(decoded.isWellFormed(), "what is read of a file is well-formed")
    ensure(decoded.length <= input.length + 1, "what is read of a file is no longer than the file")
  }
}

export const postedText: ReadonlyArray<FuzzTarget> = [comment, file]

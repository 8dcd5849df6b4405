/** Text is read in any encoding; data is not mistaken for text. */
import { describe, expect, it } from "vitest"
import { decodeText } from "../../src/domain/TextContent.ts"

const code = "const first = 1 // \u00e9\r\nconst second = 2\n"
const chinese = "// \u8fd9\u662f\u4e00\u6bb5\u5f88\u957f\u7684\u6ce8\u91ca\n\u503c = 1\n"
const russian = "// \u042d\u0442\u043e \u043a\u043e\u043c\u043c\u0435\u043d\u0442\u0430\u0440\u0438\u0439\n"
const little = (text: string) => Buffer.from(text, "utf16le")
const big = (text: string) => Buffer.from(text, "utf16le").swap16()
const marked = (bytes: Buffer, ...mark: ReadonlyArray<number>) => Buffer.concat([Buffer.from(mark), bytes])

describe("text", () => {
  it.each([
    ["UTF-8", Buffer.from(code), code],
    ["UTF-16 LE with a mark", marked(little(code), 0xff, 0xfe), code],
    ["UTF-16 BE with a mark", marked(big(code), 0xfe, 0xff), code],
    ["UTF-16 LE without a zero byte, by its mark", marked(little("\u6f22\u5b57"), 0xff, 0xfe), "\u6f22\u5b57"],
    ["UTF-16 BE without a zero byte, by its mark", marked(big("\u6f22\u5b57"), 0xfe, 0xff), "\u6f22\u5b57"],
    ["UTF-16 LE", little(code), code],
    ["UTF-16 BE", big(code), code],
    ["Chinese in UTF-16 LE", little(chinese), chinese],
    ["Chinese in UTF-16 BE", big(chinese), chinese],
    ["Russian in UTF-16 LE", little(russian), russian],
    ["Russian in UTF-16 BE", big(russian), russian],
    ["a NUL in a comment", Buffer.from(`# \0\n${code}`), `# \u2400\n${code}`],
    ["NULs in UTF-16", marked(little(`# \0\n${code}`), 0xff, 0xfe), `# \u2400\n${code}`],
    ["an empty file", Buffer.alloc(0), ""]
  ])("is read: %s", (_, bytes, text) => expect(decodeText(bytes)).toBe(text))

  it.each([
    ["NULs alone", Buffer.alloc(5000)],
    [
      "an ELF header",
      Buffer.from("7f454c4602010100000000000000000002003e0001000000783040000000000040000000000000", "hex")
    ],
    ["random bytes", Buffer.from(Array.from({ length: 4000 }, (_, at) => (at * at * 31 + at * 7 + (at >> 3)) & 255))],
    ["a picture", Buffer.from("89504e470d0a1a0a0000000d4948445200000010000000100803000000282d0f53", "hex")]
  ])("is not seen in %s", (_, bytes) => expect(decodeText(bytes)).toBeUndefined())
})

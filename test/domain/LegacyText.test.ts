/** Sources in legacy encodings are decoded; UTF-8 with wrong bytes and data are not taken for them. */
import { describe, expect, it } from "vitest"
import { detectEncoding } from "../../src/domain/LegacyText.ts"
import { decodeText } from "../../src/domain/TextContent.ts"
import { encode } from "../harness/Encode.ts"

const code = (comment: string) => `int total = 0; // ${comment}\r\nreturn total;\n`

describe("a source is decoded", () => {
  it.each([
    ["gb18030", "中文注释"],
    ["gb18030", "如果数组为空，则返回默认值。"],
    ["gb18030", "错误"],
    ["gb18030", "中"],
    ["gb18030", "繁體與簡體混合的註釋，用於測試擴展漢字"],
    ["shift_jis", "日本語のコメントです。"],
    ["shift_jis", "配列が空の場合は初期値を返す"],
    ["shift_jis", "エラー"],
    ["euc-kr", "배열이 비어 있으면 기본값을 반환한다"],
    ["euc-kr", "한글 주석입니다"],
    ["windows-1252", "für den Fehler müssen wir prüfen"],
    ["windows-1252", "déjà vu, où est l'élève ?"],
    ["windows-1252", "año, señal, función"],
    ["windows-1252", "größer"]
  ])("%s: %s", (encoding, comment) => {
    expect(detectEncoding(encode(encoding, code(comment)))).toBe(encoding)
    expect(decodeText(encode(encoding, code(comment)))).toBe(code(comment))
  })
})

it("lines keep their positions", () => {
  const text = Array.from({ length: 200 }, (_, at) => `第${at % 10}行：处理数据 ${at}`).join("\n")
  expect(decodeText(encode("gb18030", text))?.split("\n")).toEqual(text.split("\n"))
})

it("a character of four bytes is read", () => {
  const bytes = Buffer.concat([encode("gb18030", "中文注释和字符"), Buffer.from([0x95, 0x32, 0x82, 0x36])])
  expect(decodeText(bytes)).toBe("中文注释和字符𠀀")
})

describe("UTF-8 with wrong bytes stays UTF-8", () => {
  it.each(["für den Fehler müssen wir prüfen", "中文注释如果数组为空", "déjà vu où élève"])("%s", (text) => {
    const bytes = Buffer.concat([Buffer.from(text), Buffer.from([0xff])])
    expect(decodeText(bytes)).toBe(`${text}\ufffd`)
  })
})

it("bytes in no encoding are replaced", () => {
  expect(decodeText(Buffer.from([0x61, 0x80, 0x81, 0xfe, 0xff, 0x80, 0x62]))).toContain("\ufffd")
})

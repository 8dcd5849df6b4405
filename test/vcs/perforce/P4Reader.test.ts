/** Output of p4 as it streams: JSON in any pieces, and text whose descriptions look like fields. */
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { makeJsonReader, makeTextReader } from "../../../src/vcs/perforce/P4Reader.ts"
import type { FieldHandler, RecordReader } from "../../../src/vcs/perforce/P4Reader.ts"
import { shownText, toBytes } from "../../../src/vcs/perforce/RawText.ts"
import { encode } from "../../harness/Encode.ts"
import { hasContracts, readContract } from "../../harness/Contracts.ts"

const Samples = Schema.Struct({
  samples: Schema.Array(Schema.Struct({ cmd: Schema.String, stdout: Schema.String }))
})

const read = (make: (handle: FieldHandler) => RecordReader, text: string | Buffer, size = text.length || 1) => {
  const records: Array<Record<string, string>> = []
  let fields: Record<string, string> = {}
  const reader = make({
    field: (name, value) => (fields[name] = value),
    end: () => {
      records.push(fields)
      fields = {}
    }
  })
  const bytes = typeof text === "string" ? Buffer.from(text) : text
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
  reader.end()
  return records
}

describe("JSON", () => {
  const records = [
    { change: "12", desc: 'Say "hi"\n\ttab \\ é 😀 \u0001', shelved: "" },
    { data: "no such file(s).\n", generic: "17", severity: "2" },
    {}
  ]
  const text = records
    .map((record) => JSON.stringify(record).replace('"17"', "17").replace('"2"', "2").replace("😀", "\\ud83d\\ude00"))
    .join("\n")

  it.each([1, 2, 3, 7, 1000])("is read in pieces of %s bytes", (size) => {
    expect(read(makeJsonReader, text, size)).toEqual(records)
  })

  it.each([
    "<html>",
    '{"a":{"b":"c"}}',
    '{"a":["b"]}',
    '{"a" "b"}',
    '{"a":"b"',
    '{"a":"b"}}',
    `{"${"a".repeat(300)}":"b"}`
  ])("of another form is refused: %s", (bad) => {
    expect(() => read(makeJsonReader, bad)).toThrow(/unexpected|ends within|too long/)
  })

  it.each([1, 2, 5, 1000])("bytes that are not UTF-8 are kept, and shown as text, in pieces of %s bytes", (size) => {
    const line = Buffer.concat([
      Buffer.from('{"depotFile":"//depot/é/'),
      encode("gb18030", "中文注释"),
      Buffer.from('.c","desc":"\\u00e9 ü"}\n')
    ])
    const [record] = read(makeJsonReader, line, size)
    const file = record?.["depotFile"] ?? ""
    expect(toBytes(file).subarray(-10, -2).equals(encode("gb18030", "中文注释"))).toBe(true)
    expect(record?.["desc"]).toBe("é ü")
    expect(shownText(file.slice(file.lastIndexOf("/") + 1))).toBe("中文注释.c")
    const tagged = read(
      makeTextReader,
      Buffer.concat([Buffer.from("... depotFile "), toBytes(file), Buffer.from("\n")]),
      size
    )
    expect(tagged[0]?.["depotFile"]).toBe(file)
  })

  it("a value is cut at its limit", () => {
    const [record] = read(makeJsonReader, `{"desc":"${"x".repeat(3_000_000)}","user":"ada"}`, 65_536)
    expect(record?.["desc"]?.length).toBeLessThan(1_200_000)
    expect(record?.["user"]).toBe("ada")
  })
})

describe("text", () => {
  it("keeps blank lines of descriptions, and divides records at their first name", () => {
    const text = "... change 12\n... desc Fix crash\nsecond line\n\nthird\n\n... change 13\n... shelved\n... desc x\n\n"
    expect(read(makeTextReader, text, 3)).toEqual([
      { change: "12", desc: "Fix crash\nsecond line\n\nthird" },
      { change: "13", shelved: "", desc: "x" }
    ])
  })

  it("reads nested fields", () => {
    expect(read(makeTextReader, "... depotFile //a\n... ... how0,0 branch from\n")).toEqual([
      { depotFile: "//a", "how0,0": "branch from" }
    ])
  })
})

const samples = hasContracts ? Schema.decodeUnknownSync(Samples)(readContract("p4-samples.json")).samples : []
it.each(samples)("captured output of $cmd is read", ({ cmd, stdout }) => {
  const isJson = cmd.includes("-Mj")
  const records = read(isJson ? makeJsonReader : makeTextReader, stdout, 11)
  expect(records.length).toBeGreaterThan(0)
  if (!isJson) return
  const parsed = stdout
    .trim()
    .split("\n")
    .map((line) => Object.fromEntries(Object.entries(JSON.parse(line)).map(([name, value]) => [name, String(value)])))
  expect(records).toEqual(parsed)
})

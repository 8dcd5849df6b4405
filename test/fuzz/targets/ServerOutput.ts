/** Output of the clients of Subversion and Perforce, which contains texts of authors. The first byte chooses the size of the pieces. */
import { makeJsonReader, makeTextReader } from "../../../src/vcs/perforce/P4Reader.ts"
import { parseWholeDiff } from "../../../src/vcs/subversion/SvnSides.ts"
import { makeXmlReader } from "../../../src/vcs/subversion/SvnXml.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure } from "../Target.ts"

interface Reader {
  readonly push: (bytes: Uint8Array) => void
  readonly end: () => void
}

/** Reads in pieces; returns whether the reader accepted all. */
const feed = (reader: Reader, input: Uint8Array): boolean => {
  const size = 1 + ((input[0] ?? 0) % 64)
  try {
    for (let at = 1; at < input.length; at += size) reader.push(input.subarray(at, at + size))
    reader.end()
    return true
  } catch {
    return false
  }
}

const svnXml: FuzzTarget = {
  name: "svn-xml",
  seeds: () =>
    [
      '9<?xml version="1.0"?><log><logentry revision="7"><author>ada</author><paths><path action="M" kind="file">/trunk/a&amp;b.c</path></paths><msg>Fix</msg></logentry></log>',
      '0<lists><list path="x"><entry kind="file"><name>a.c</name><size>12</size></entry></list></lists>',
      '3<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    ].map(bytes),
  words: ["<path>", "</path>", "<![CDATA[", "]]>", "&#x41;", "&lt;", "<!DOCTYPE", "<?xml", 'revision="1"'],
  check: (input) => {
    let open = 0
    feed(
      makeXmlReader({
        start: () => void open++,
        end: ({ text, within }) => {
          ensure(text.length <= 2_097_152, "a text is bounded")
          ensure(within.length < 32, "the depth is bounded")
          open--
        }
      }),
      input
    )
    ensure(open >= 0, "no element ends twice")
  }
}

const p4Json: FuzzTarget = {
  name: "p4-json",
  seeds: () =>
    [
      '9{"change":"42","desc":"Say \\"hi\\"\\n\\u00e9","depotFile0":"//depot/a.c","action0":"edit"}\n{"data":"x\\n","generic":17,"severity":2}\n',
      "0{}\n{}\n"
    ].map(bytes),
  words: ['"desc":', "\\u00", '\\\\"', "{}", '"severity":3', "null", "true"],
  check: (input) => {
    const records: Array<Record<string, string>> = []
    let fields: Record<string, string> = Object.create(null)
    const accepted = feed(
      makeJsonReader({
        field: (name, value) => (fields[name] = value),
        end: () => {
          records.push(fields)
          fields = Object.create(null)
        }
      }),
      input
    )
    // What one parse of the line accepts as flat text is read alike.
    const line = Buffer.from(input.subarray(1)).toString("utf8")
    const parsed = parseFlat(line)
    if (parsed !== undefined && !line.includes("\ufffd")) {
      ensure(accepted && records.length === 1, "a flat object is read")
      ensure(JSON.stringify(records[0]) === JSON.stringify(parsed), "a flat object has its values")
    }
  }
}

/** Returns an object of texts with distinct names; undefined for anything else. */
const parseFlat = (line: string): Record<string, string> | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
    const entries = Object.entries(value)
    if (entries.some(([name, one]) => typeof one !== "string" || name.length > 256)) return undefined
    return Object.assign(Object.create(null), value)
  } catch {
    return undefined
  }
}

const p4Text: FuzzTarget = {
  name: "p4-text",
  seeds: () =>
    [
      "9... change 12\n... desc Fix\nsecond\n\n... change 13\n... shelved\n",
      "0... depotFile //a\n... ... how0,0 x\n"
    ].map(bytes),
  words: ["... ", "... change ", "... ... ", "\n\n", "... depotFile0 //x"],
  check: (input) => {
    let ended = 0
    const accepted = feed(
      makeTextReader({
        field: (name, value) => {
          ensure(/^[A-Za-z][\w,]*$/.test(name), "a name is a word")
          ensure(value.length <= 2_097_152, "a value is bounded")
        },
        end: () => void ended++
      }),
      input
    )
    ensure(accepted, "any text is accepted")
  }
}

const svnWholeDiff: FuzzTarget = {
  name: "svn-whole-diff",
  seeds: () =>
    [
      "Index: a.c\n===\n--- a.c\t(revision 1)\n+++ a.c\t(revision 2)\n@@ -1,2 +1,2 @@\n 1\n-2\r\n+3\r\\ No newline at end of file\n",
      "Index: b\n@@ -0,0 +1 @@\n+1\n\\ No newline at end of file\nIndex: c\n@@ -1 +0,0 @@\n-1\n"
    ].map(bytes),
  words: ["Index: ", "@@ -1 +1 @@\n", "@@ -0,0 +1,9 @@\n", "\\ No newline at end of file", "\r", "\n "],
  check: (input) => {
    let length = 0
    for (const { from, head } of parseWholeDiff(Buffer.from(input)).values()) length += from.length + head.length
    ensure(length <= 2 * input.length, "files have no more bytes than the diff")
  }
}

export const serverOutput: ReadonlyArray<FuzzTarget> = [svnXml, svnWholeDiff, p4Json, p4Text]

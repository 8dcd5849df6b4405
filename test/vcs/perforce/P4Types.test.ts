/** Types and actions of revisions of Perforce, in terms of a review. */
import { expect, it } from "vitest"
import {
  hasContent,
  isBinary,
  isDeleted,
  isSymlink,
  isUtf16,
  toMode,
  toUtf8
} from "../../../src/vcs/perforce/P4Types.ts"

it.each<readonly [type: string, mode: string, kinds: ReadonlyArray<string>]>([
  ["text", "100644", []],
  ["text+kx", "100755", []],
  ["kxtext", "100755", []],
  ["unicode", "100644", []],
  ["utf16", "100644", ["utf16"]],
  ["xutf16+C", "100755", ["utf16"]],
  ["symlink", "120000", ["symlink"]],
  ["binary", "100644", ["binary"]],
  ["binary+S5x", "100755", ["binary"]],
  ["ubinary", "100644", ["binary"]],
  ["apple", "100644", ["binary"]],
  ["of a later release", "100644", []]
])("type %s has mode %s", (type, mode, kinds) => {
  const found = [
    ...(isSymlink(type) ? ["symlink"] : []),
    ...(isBinary(type) ? ["binary"] : []),
    ...(isUtf16(type) ? ["utf16"] : [])
  ]
  expect([toMode(type), found]).toEqual([mode, kinds])
})

it.each([
  ["edit", false, true],
  ["delete", true, true],
  ["move/delete", true, true],
  ["move/add", false, true],
  ["purge", false, false],
  ["archive", false, false],
  ["of a later release", false, true]
])("action %s", (action, deleted, content) => {
  expect([isDeleted(action), hasContent(action)]).toEqual([deleted, content])
})

it("UTF-16 of both byte orders becomes UTF-8; other bytes remain", () => {
  const little = Buffer.from("\ufeffint é;\r\n", "utf16le")
  expect(toUtf8(little).toString()).toBe("int é;\r\n")
  expect(toUtf8(Buffer.from(little).swap16()).toString()).toBe("int é;\r\n")
  const other = Buffer.from([0xfe, 0x00, 0xff])
  expect(toUtf8(other)).toEqual(other)
})

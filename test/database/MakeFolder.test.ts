/** Folders are created with their parents, and one that cannot be created is an error. */
import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { makeFolder } from "../../src/database/MakeFolder.ts"
import { temporaryFolder } from "../vcs/Repository.ts"

const mode = (path: string): number => statSync(path).mode & 0o777

it("creates missing parents for this user only, and keeps what exists", () => {
  const root = temporaryFolder()
  const open = join(root, "open")
  mkdirSync(open, { mode: 0o755 })
  makeFolder(join(open, "a", "b"))
  makeFolder(join(open, "a", "b"))
  expect([open, join(open, "a"), join(open, "a", "b")].map(mode)).toEqual([0o755, 0o700, 0o700])
})

it("throws the error of the first part that cannot be created", () => {
  const root = temporaryFolder()
  writeFileSync(join(root, "file"), "")
  symlinkSync(join(root, "nowhere"), join(root, "link"))
  expect(() => makeFolder("/proc/aicr-none/data")).toThrow("mkdir '/proc/aicr-none'")
  expect(() => makeFolder(join(root, "file", "data", "more"))).toThrow(
    `ENOTDIR: not a directory, mkdir '${root}/file/data'`
  )
  expect(() => makeFolder(join(root, "link", "data"))).toThrow(`EEXIST: file already exists, mkdir '${root}/link'`)
  expect(existsSync(join(root, "nowhere"))).toBe(false)
})

/** Writes the first file system of a virtual machine, in the format `newc` of cpio, which the kernel unpacks. Pure. */

export interface InitEntry {
  readonly path: string
  /** Absent for a folder. */
  readonly content?: Buffer
  readonly isProgram?: boolean
}

const folderMode = 0o040755
const fileMode = 0o100644
const programMode = 0o100755
const alignment = 4

const pad = (length: number): Buffer => Buffer.alloc((alignment - (length % alignment)) % alignment)
const hex = (value: number): string => value.toString(16).padStart(8, "0")

const entry = (path: string, mode: number, content: Buffer, inode: number): ReadonlyArray<Buffer> => {
  const name = Buffer.from(`${path}\0`)
  const fields = [inode, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length, 0]
  const header = Buffer.concat([Buffer.from(`070701${fields.map(hex).join("")}`), name])
  return [header, pad(header.length), content, pad(content.length)]
}

export const writeInitramfs = (entries: ReadonlyArray<InitEntry>): Buffer => {
  const parts = entries.flatMap(({ content, isProgram = false, path }, at) =>
    entry(
      path,
      content === undefined ? folderMode : isProgram ? programMode : fileMode,
      content ?? Buffer.alloc(0),
      at + 1
    )
  )
  return Buffer.concat([...parts, ...entry("TRAILER!!!", 0, Buffer.alloc(0), 0)])
}

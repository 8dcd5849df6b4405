/** Changes that are too large or too complex to review, each as a branch `change` of a bare repository that has a `main`. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { git } from "../../../demo/DemoForgeGit.ts"

export interface HostileChange {
  readonly name: string
  /** Status that its review ends with; a warning where something was not read. */
  readonly ends: "success" | "warning" | "failure"
  readonly write: (directory: string) => Promise<void>
}

const mib = 1_048_576
const committer = "committer Eve <eve@example.com> 1700000000 +0000"

/** Commits what `write` prints for `git fast-import`, on top of `main`. */
const importing = async (
  directory: string,
  write: (print: (text: string | Buffer) => Promise<void>) => Promise<void>
) => {
  const child = spawn("git", ["-c", "core.compression=1", "fast-import", "--quiet", "--force"], {
    cwd: directory,
    stdio: ["pipe", "ignore", "inherit"]
  })
  const print = async (text: string | Buffer) => {
    if (!child.stdin.write(text)) await once(child.stdin, "drain")
  }
  const ended = once(child, "close")
  await write(print)
  child.stdin.end()
  const [code] = await ended
  if (code !== 0) throw new Error(`git fast-import ended with ${String(code)}`)
}

const begin = (branch: string, from: string | undefined) =>
  `commit refs/heads/${branch}\n${committer}\ndata 1\nx\n${from === undefined ? "" : `from ${from}\n`}`
const inline = (path: string, text: string) => `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`

const onMain = (write: (print: (text: string | Buffer) => Promise<void>) => Promise<void>) => (directory: string) =>
  importing(directory, async (print) => {
    await print(begin("change", "refs/heads/main^0"))
    await print(inline("src/small.ts", "export const small = 1\n"))
    await write(print)
  })

/** A file of this many bytes: `line` repeated. */
const large = (path: string, bytes: number, line: string) =>
  onMain(async (print) => {
    const piece = Buffer.from(line.repeat(Math.ceil(mib / line.length))).subarray(0, mib)
    await print(`M 100644 inline ${path}\ndata ${bytes}\n`)
    for (let at = 0; at < bytes; at += mib) await print(piece.subarray(0, Math.min(mib, bytes - at)))
    await print("\n")
  })

/** A tree of depth `levels` with `width` times the same subtree on each level: few objects. */
const nested = (levels: number, width: number) => async (directory: string) => {
  let entry = `100644 blob ${(await git(directory, ["hash-object", "-w", "--stdin"], Buffer.from("x\n"))).trim()}`
  for (let level = 0; level < levels; level++) {
    const lines = Array.from({ length: width }, (_, at) => `${entry}\td${at}\n`).join("")
    entry = `040000 tree ${(await git(directory, ["mktree"], Buffer.from(lines))).trim()}`
  }
  const tree = entry.split(" ")[2] ?? ""
  const author = ["-c", "user.name=Eve", "-c", "user.email=eve@example.com"]
  const commit = await git(directory, [...author, "commit-tree", tree, "-p", "refs/heads/main", "-m", "x"])
  await git(directory, ["update-ref", "refs/heads/change", commit.trim()])
}

const lines = (seed: number) => Array.from({ length: 40 }, (_, at) => `line ${at} of ${seed}\n`).join("")

const renames = (count: number) => (directory: string) =>
  importing(directory, async (print) => {
    await print(begin("main", "refs/heads/main^0"))
    for (let n = 0; n < count; n++) await print(inline(`old/${n}.txt`, lines(n)))
    await print(begin("change", "refs/heads/main"))
    for (let n = 0; n < count; n++) {
      await print(`D old/${n}.txt\n${inline(`new/${n}.txt`, `${lines(n)}one more\n`)}`)
    }
  })

export const hostileChanges: ReadonlyArray<HostileChange> = [
  { name: "nested", ends: "failure", write: nested(6, 10) },
  { name: "excluded-400-mib", ends: "success", write: large("vendor/large.txt", 400 * mib, "a line of text\n") },
  { name: "included-400-mib", ends: "warning", write: large("data/large.txt", 400 * mib, "a line of text\n") },
  {
    name: "200-000-files",
    ends: "failure",
    write: onMain(async (print) => {
      for (let n = 0; n < 200_000; n++) await print(inline(`many/${n % 400}/${n}.txt`, `${n}\n`))
    })
  },
  {
    name: "40-000-binaries",
    ends: "warning",
    write: onMain(async (print) => {
      for (let n = 0; n < 40_000; n++) await print(inline(`many/${n % 400}/${n}.py`, `# \0\na = ${n}\n`))
    })
  },
  { name: "deep", ends: "success", write: nested(1000, 1) },
  { name: "line-50-mib", ends: "warning", write: large("data/line.txt", 50 * mib, "x") },
  { name: "renames", ends: "success", write: renames(900) },
  {
    name: "links",
    ends: "success",
    write: onMain(async (print) => {
      await print(inline(".gitmodules", '[submodule "m"]\n\tpath = m\n\turl = file:///etc\n'))
      await print(`M 160000 ${"1".repeat(40)} m\n`)
      for (const [path, target] of [
        ["passwd", "/etc/passwd"],
        ["up", "../../../.."],
        ["loop", "loop"]
      ]) {
        await print(`M 120000 inline ${path}\ndata ${target?.length ?? 0}\n${target}\n`)
      }
    })
  }
]

/**
 * A copy of this program with another version and changed files, for tests in which two releases share their stores. What is not changed
 * is a link. It is bundled, as after its installation.
 */
import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

const dashboardBuilder = "src/dashboard/Build.mjs"

/** Replaces a text that occurs exactly once. */
export type Change = readonly [file: string, from: string, to: string]

export class OtherRelease implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "aicr-release-"))

  constructor(version: string, changes: ReadonlyArray<Change>) {
    // Without its builder the dashboard is not built at each start.
    const filter = (path: string) => !path.endsWith(dashboardBuilder)
    for (const name of ["actors", "demo", "eval", "nats", "src"])
      cpSync(join(root, name), join(this.folder, name), { recursive: true, filter })
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"))
    const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    writeFileSync(join(this.folder, "package.json"), JSON.stringify({ ...Object(manifest), version }))
    for (const change of changes) this.#change(change)
    execFileSync(process.execPath, [join(this.folder, "src/app/program/Build.mjs")], { stdio: "ignore" })
  }

  #change([file, from, to]: Change): void {
    const path = join(this.folder, file)
    const text = readFileSync(path, "utf8")
    if (text.split(from).length !== 2) throw new Error(`${file} does not have exactly once: ${from}`)
    writeFileSync(
      path,
      text.replace(from, () => to)
    )
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

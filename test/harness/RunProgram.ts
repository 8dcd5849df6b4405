/**
 * Runs a program to its end from a small shell that stays until this process ends. Processes of tests hold up to a gigabyte, and to start a program
 * copies the tables of that memory: a start from the shell costs half the processor time.
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

export interface ProgramOptions {
  readonly cwd: string
  /** The whole environment of the program. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

export interface EndedProgram {
  readonly status: number
  readonly stdout: Buffer
  readonly stderr: string
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Returns the command that sets the variables whose names a shell accepts. */
const exporting = (environment: ProgramOptions["environment"]): string =>
  Object.entries(environment)
    .flatMap(([name, value]) =>
      value === undefined || !/^[A-Za-z_]\w*$/.test(name) ? [] : [`${name}=${quote(value)}`]
    )
    .map((assignment) => `export ${assignment}; `)
    .join("")

interface Shell {
  readonly folder: string
  readonly go: number
}

let running: Shell | undefined

/** It reads the command from a file for each line that it gets, and ends with the pipe of these lines. */
const startShell = (): Shell => {
  const folder = mkdtempSync(join(tmpdir(), "aicr-shell-"))
  execFileSync("mkfifo", [join(folder, "go"), join(folder, "done")])
  const loop = "exec <go; while read -r line; do (. ./command) >out 2>errors </dev/null; echo $? >done; done"
  spawn("/bin/sh", ["-c", loop], { cwd: folder, env: {}, stdio: ["ignore", "ignore", "inherit"] }).unref()
  return { folder, go: openSync(join(folder, "go"), "w") }
}

/** Returns how the program ended, whatever its status is. */
export const runProgram = (
  program: string,
  args: ReadonlyArray<string>,
  { cwd, environment }: ProgramOptions
): EndedProgram => {
  const { folder, go } = (running ??= startShell())
  const command = `cd ${quote(resolve(cwd))} && { ${exporting(environment)}exec ${[program, ...args].map(quote).join(" ")}; }`
  writeFileSync(join(folder, "command"), command)
  writeSync(go, "\n")
  // Waits until the shell opens it.
  const status = Number(readFileSync(join(folder, "done"), "utf8"))
  return { status, stdout: readFileSync(join(folder, "out")), stderr: readFileSync(join(folder, "errors"), "utf8") }
}

/** Returns what a program printed, or fails with its errors. */
export const readProgram = (program: string, args: ReadonlyArray<string>, options: ProgramOptions): Buffer => {
  const { status, stderr, stdout } = runProgram(program, args, options)
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}: ${stderr}`)
  return stdout
}

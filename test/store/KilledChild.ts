/** Runs a script as a process of its own and kills it (SIGKILL) in the middle of its work. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { bundledScript, compiledCode } from "../harness/BundledScript.ts"

const start = async (script: string, args: ReadonlyArray<string>) =>
  spawn(process.execPath, ["--disable-warning=ExperimentalWarning", await bundledScript(script), ...args], {
    env: { NODE_COMPILE_CACHE: compiledCode, ...process.env },
    stdio: ["ignore", "pipe", "pipe"]
  })

/** Lines that `script` wrote before it was killed, which happens as soon as it has written `lines` of them. */
export const killAfter = async (
  script: string,
  args: ReadonlyArray<string>,
  lines: number
): Promise<ReadonlyArray<string>> => {
  const child = await start(script, args)
  return new Promise((resolve, reject) => {
    const written: Array<string> = []
    const errors: Array<string> = []
    child.stderr.on("data", (data) => errors.push(String(data)))
    const output = createInterface(child.stdout)
    output.on("line", (line) => {
      written.push(line)
      if (written.length === lines) child.kill("SIGKILL")
    })
    output.on("close", () => {
      if (child.killed) resolve(written)
      else reject(new Error(`${script} ended by itself after ${written.length} lines: ${errors.join("")}`))
    })
    child.on("error", reject)
  })
}

/** Runs a script until it ends by itself; its lines are added to `written`. */
export const toTheEnd = async (script: string, args: ReadonlyArray<string>, written: Array<string>): Promise<void> => {
  const child = await start(script, args)
  return new Promise((resolve, reject) => {
    child.stderr.pipe(process.stderr)
    createInterface(child.stdout).on("line", (line) => written.push(line))
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`${script} ended with ${code}`))))
    child.on("error", reject)
  })
}

/** Runs a command of the program, in a process that has compiled its code. */
import { execFile } from "node:child_process"
import { programFolder } from "./AicrProcess.ts"
import { ReusedProcess } from "./ReusedProcess.ts"

export interface RanCommand {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface RunOptions {
  /** Default: the folder of the program. */
  readonly cwd?: string
  /** Variables in addition to `PATH`. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

const runInOwnProcess = (
  args: ReadonlyArray<string>,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>
): Promise<RanCommand> =>
  new Promise((resolve) => {
    const argv = ["--disable-warning=ExperimentalWarning", `${programFolder}/src/main.mjs`, ...args]
    execFile(`${programFolder}/node_modules/.bin/node`, argv, { cwd, env, maxBuffer: 64 << 20 }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    )
  })

export const runAicr = (
  args: ReadonlyArray<string>,
  { cwd = programFolder, env: variables = {} }: RunOptions = {}
): Promise<RanCommand> => {
  const env = { PATH: process.env["PATH"], ...variables }
  return new Promise((resolve) => {
    const printed = { stdout: "", stderr: "" }
    const end = (code: number | null) => resolve({ code: code ?? -1, out: printed.stdout, err: printed.stderr })
    const handlers = { onText: (text: string, stream: "stdout" | "stderr") => (printed[stream] += text), onEnd: end }
    if (ReusedProcess.run({ args, cwd, env }, handlers) === undefined) resolve(runInOwnProcess(args, cwd, env))
  })
}

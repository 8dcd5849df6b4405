/** Reads the labelled changes of a folder, one YAML file each; every invalid file is reported before anything is paid for. */
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { parse } from "yaml"
import { readCase } from "../../../eval/EvalCase.ts"
import type { EvalCase } from "../../../eval/EvalCase.ts"
import type { SetName } from "../../../eval/datasets/Sets.ts"
import { ExitWith } from "../Exit.ts"
import { readSet } from "./EvalSets.ts"

const maxFiles = 2000
const maxBytes = 1_048_576

/** Reads the cases of a folder, or of a public set. `only`: those whose name contains one of these words. */
export const readCases = Effect.fnUntraced(function* (
  path: string,
  dataset: SetName | undefined,
  only: ReadonlyArray<string>
) {
  const cases = yield* dataset === undefined ? readFolder(path) : readSet(path, dataset)
  const wanted = cases.filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)))
  return wanted.length === 0
    ? yield* new ExitWith({ code: 2, message: `none of ${cases.length} changes has ${only.join(" or ")} in its name` })
    : wanted
})

const readFolder = Effect.fnUntraced(function* (folder: string) {
  const names = yield* Effect.tryPromise({
    try: () => readdir(folder, { recursive: true }),
    catch: () => new ExitWith({ code: 2, message: `${folder} is not a readable folder` })
  })
  const files = names.filter((name) => /\.ya?ml$/.test(name)).toSorted()
  if (files.length === 0)
    return yield* new ExitWith({ code: 2, message: `${folder} holds no labelled changes (*.yaml)` })
  if (files.length > maxFiles)
    return yield* new ExitWith({
      code: 2,
      message: `${folder} holds ${files.length} files; at most ${maxFiles} are read`
    })
  const read = yield* Effect.forEach(files, (file) => Effect.promise(() => caseOf(folder, file)))
  const problems = read.flatMap((one) => ("problems" in one ? one.problems : []))
  if (problems.length > 0) return yield* new ExitWith({ code: 2, message: problems.slice(0, 50).join("\n") })
  return read.flatMap((one) => ("case" in one ? [one.case] : []))
})

type Read = { readonly case: EvalCase } | { readonly problems: ReadonlyArray<string> }

const caseOf = async (folder: string, file: string): Promise<Read> => {
  const name = file.replace(/\.ya?ml$/, "")
  try {
    const text = await readFile(join(folder, file), "utf8")
    if (text.length > maxBytes) return { problems: [`${name}: is longer than ${maxBytes} bytes`] }
    const value: unknown = parse(text)
    const found = readCase(name, value)
    return "name" in found ? { case: found } : { problems: found }
  } catch (cause) {
    return { problems: [`${name}: cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`] }
  }
}

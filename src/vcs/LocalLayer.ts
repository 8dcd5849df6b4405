/** `LocalRepository` over every version control system, and the layer of the command line. Git is first where a folder is in several. */
import { mkdtemp, readFile, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { Effect, Layer } from "effect"
import { verbatimReason } from "../domain/Reason.ts"
import type { VcsKind } from "../domain/Kinds.ts"
import { CheckoutError } from "./Checkout.ts"
import type { Vcs } from "./Checkout.ts"
import type { ContextRepositories } from "./ContextRepositories.ts"
import { deepenGit, gitRange } from "./git/GitLocalRepository.ts"
import { io } from "./git/Mirror.ts"
import { LocalRepository } from "./LocalRepository.ts"
import type { LocalRange, LocalRequest } from "./LocalRepository.ts"
import { perforceRange } from "./perforce/P4LocalRepository.ts"
import { localLimits } from "./process/ProcessLimits.ts"
import { subversionRange } from "./subversion/SvnLocalRepository.ts"
import { layerVcs } from "./VcsLayer.ts"

/** Finds the nearest working copy of each version control system that holds a folder, by the files that mark it. */

interface WorkingCopies {
  /** Top folder of the nearest Subversion working copy. */
  readonly subversion: string | undefined
  /** Folder of the nearest file of settings of Perforce (P4CONFIG). */
  readonly perforce: string | undefined
}

/** `p4Config`: name of the files of settings of Perforce, from the environment. */
const findWorkingCopies = (path: string, p4Config: string | undefined): Effect.Effect<WorkingCopies, CheckoutError> =>
  io("working copy", async () => {
    const subversion = await findAbove(path, ".svn", "folder")
    const isName = p4Config !== undefined && p4Config !== "" && !p4Config.includes("/")
    return { subversion, perforce: isName ? await findAbove(path, p4Config, "file") : undefined }
  })

const findAbove = async (path: string, name: string, kind: "file" | "folder"): Promise<string | undefined> => {
  let folder = path
  while (true) {
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (kind === "file" ? found?.isFile() : found?.isDirectory()) return folder
    if (dirname(folder) === folder) return undefined
    folder = dirname(folder)
  }
}

/** Errors of the command, in its words. */
const missing = (message: string) => new CheckoutError({ reason: "missing", why: verbatimReason(message) })

const names: Readonly<Record<VcsKind, string>> = {
  git: "git repository",
  subversion: "Subversion working copy",
  perforce: "Perforce workspace"
}

/** Settings of Perforce in the environment, without which only a file of settings names a server. */
const variables = ["P4PORT", "P4CLIENT", "P4ENVIRO"]

/** `scratch`: folder of everything on disk. */
const rangeIn = (scratch: string) => {
  const optionsOf = (root: string) => ({ scratch, root, limits: () => localLimits })
  const subversion = (request: LocalRequest, root: string) => subversionRange(request, optionsOf(root))
  const perforce = (request: LocalRequest) => perforceRange(request, optionsOf(resolve(request.path)))

  /** Returns undefined where there is no working copy of the kind. */
  const rows: Readonly<
    Record<
      VcsKind,
      (request: LocalRequest, copies: WorkingCopies) => Effect.Effect<LocalRange | undefined, CheckoutError>
    >
  > = {
    git: (request) => gitRange(request),
    subversion: (request, copies) =>
      copies.subversion === undefined ? Effect.undefined : subversion(request, copies.subversion),
    perforce: (request, copies) =>
      request.vcs === "perforce" ||
      copies.perforce !== undefined ||
      variables.some((name) => process.env[name] !== undefined)
        ? perforce(request)
        : Effect.undefined
  }

  return Effect.fn("LocalRepository.range")(function* (request: LocalRequest) {
    const path = resolve(request.path)
    const isFolder = yield* io(path, async () => (await stat(path).catch(() => undefined))?.isDirectory())
    if (isFolder !== true)
      return yield* missing(`${path} is not a folder; name one in a git repository or in a working copy`)
    const copies = yield* findWorkingCopies(path, process.env["P4CONFIG"])
    const kinds = request.vcs === undefined ? (["git", "subversion", "perforce"] as const) : [request.vcs]
    for (const kind of kinds) {
      const found = yield* rows[kind](request, copies)
      if (found !== undefined) return { ...found, notices: [...noticesOf(found, copies, request), ...found.notices] }
    }
    const wanted = kinds.map((kind) => (kind === "perforce" ? `a ${names[kind]} (P4CONFIG)` : `a ${names[kind]}`))
    return yield* missing(`${path} is not in ${wanted.join(" or ")}`)
  })
}

/** Names the other working copies of the folder. */
const noticesOf = ({ root, vcs }: LocalRange, copies: WorkingCopies, request: LocalRequest): ReadonlyArray<string> => {
  if (request.vcs !== undefined) return []
  const others = (["subversion", "perforce"] as const).filter((kind) => kind !== vcs && copies[kind] !== undefined)
  return others.map(
    (kind) =>
      `reviewing the ${names[vcs]} ${root}; ${copies[kind]} has a ${names[kind]} as well, which --vcs ${kind} selects`
  )
}

const readWorkFile: LocalRepository["Service"]["file"] = (root, path, maxBytes) =>
  io(path, async () => {
    const found = await stat(join(root, path)).catch(() => undefined)
    return found?.isFile() === true && found.size <= maxBytes ? await readFile(join(root, path), "utf8") : undefined
  })

const temporaryFolder = Effect.acquireRelease(
  io("temporary folder", () => mkdtemp(join(tmpdir(), "aicr-review-"))),
  (root) =>
    Effect.ignore(
      io("temporary folder", () => rm(root, { recursive: true, force: true })),
      { log: "Warn" }
    )
)

/**
 * Layer for the command line: a mirror that uses the repository's objects, in a temporary folder that is removed with the layer.
 */
export const layerLocal: Layer.Layer<Vcs | ContextRepositories | LocalRepository, CheckoutError> = Layer.unwrap(
  Effect.map(temporaryFolder, (root) =>
    Layer.merge(
      Layer.succeed(
        LocalRepository,
        LocalRepository.of({ range: rangeIn(join(root, "worktrees")), deepen: deepenGit, file: readWorkFile })
      ),
      layerVcs({ root, limits: () => localLimits, allowLocal: true })
    )
  )
)

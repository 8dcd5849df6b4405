/** Changelists and opened files of a Perforce client workspace on this machine, with the user's own settings and login. */
import { realpath } from "node:fs/promises"
import { Effect } from "effect"
import type { Scope } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import { encodeName } from "../../domain/DepotPath.ts"
import { CheckoutError } from "../Checkout.ts"
import type { Checkout } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import type { LocalRange, LocalRequest } from "../LocalRepository.ts"
import type { FileSource } from "../server/FileSource.ts"
import type { LocalOptions } from "../server/LocalOptions.ts"
import { makePrivateFolder } from "../server/PrivateFolder.ts"
import { checkOutSource } from "../server/SourceCheckout.ts"
import { readShelf } from "./P4Changes.ts"
import { readNewest, shelfVersion } from "./P4Describe.ts"
import { belowDepot, checkRoot, cleanRoot } from "./P4Path.ts"
import { readP4 } from "./P4Process.ts"
import { openOwnSession } from "./P4Session.ts"
import { checkSettings } from "./P4Settings.ts"
import type { P4Session } from "./P4Session.ts"
import { openP4Source } from "./P4Source.ts"
import { readServerInfo } from "./P4Submitted.ts"
import { openWorkspace } from "./P4Workspace.ts"

/** A server that does not reply is reported soon, because a person waits. */
const replyMillis = 60_000
const maxShelf = 100_000

/** Errors of the command, in its words. */
const refused = (message: string) => new CheckoutError({ reason: "missing", why: verbatimReason(message) })

export const perforceRange = Effect.fnUntraced(function* (
  request: LocalRequest,
  options: LocalOptions
): Effect.fn.Return<LocalRange, CheckoutError> {
  const { base, changes, head, shelved } = request
  const program = request.perforceClient ?? "p4"
  const path = yield* io(options.root, () => realpath(options.root))
  if (changes === "staged")
    return yield* refused(`--staged: ${path} is in a Perforce workspace, which has no index; use --uncommitted`)
  if (shelved !== undefined && (changes !== undefined || head !== undefined || base !== undefined))
    return yield* refused(
      "--shelved reviews a changelist on its own revisions: leave out --uncommitted, --base and --head"
    )
  if (changes === "uncommitted" && base !== undefined)
    return yield* refused(
      "--uncommitted compares a Perforce workspace with the revisions that it was synced to: leave out --base"
    )
  const port = yield* checkSettings(path, process.env)
  const session = openOwnSession({ folder: options.scratch, cwd: path, port }, program, options.limits, replyMillis)
  const workspace = yield* findRoot(session, path)
  const { root } = workspace
  const common = { vcs: "perforce", root, shallow: false, notices: [] } as const
  const checkOut =
    (open: (own: P4Session) => Effect.Effect<FileSource, CheckoutError, Scope.Scope>) =>
    (): Effect.Effect<Checkout, CheckoutError, Scope.Scope> =>
      Effect.gen(function* () {
        const folder = yield* makePrivateFolder(options.scratch)
        const own = openOwnSession({ folder, cwd: root, port }, program, options.limits, replyMillis)
        return yield* checkOutSource(yield* open(own), { limits: options.limits, root: options.scratch })
      })
  if (changes === "uncommitted") {
    return {
      ...common,
      base: "have",
      baseName: "#have",
      head: "workspace",
      headName: "workspace",
      checkout: checkOut((own) => openWorkspace(own, root))
    }
  }
  const depot = yield* findDepotPath(session, root, workspace.path)
  const ends =
    shelved === undefined
      ? yield* submittedEnds(session, depot.branch, base, head)
      : yield* shelvedEnds(session, depot.branch, shelved)
  return {
    ...common,
    root: depot.root,
    ...ends,
    checkout: (headOnly) =>
      checkOut((own) =>
        openP4Source(own, {
          vcs: "perforce",
          server: own.server,
          branch: depot.branch,
          head: ends.head,
          base: ends.base,
          headOnly
        })
      )()
  }
})

/** Returns the top folder of the client that holds the path, and the path in the client's form. */
const findRoot = Effect.fnUntraced(function* (session: P4Session, path: string) {
  let found: Readonly<Record<string, string>> = {}
  yield* readP4(session, { args: ["info"] }, { record: (record) => void (found = record) })
  const { clientName, clientRoot } = found
  if (clientRoot === undefined) {
    return yield* refused(
      `the Perforce client ${clientName ?? "of this folder"} does not exist; set P4CLIENT, or P4CONFIG and its file in the workspace`
    )
  }
  const root = clientRoot.replace(/(?<!\/)\/+$/, "")
  // Perforce writes the root as the client names it, which may contain links.
  const real = yield* io(root, () => realpath(root).catch(() => root))
  return path === real || path.startsWith(`${real}/`)
    ? { root, path: `${root}${path.slice(real.length)}` }
    : yield* refused(`${path} is not in the workspace ${root} of the Perforce client ${clientName}`)
})

/** Finds the depot path of the whole workspace, or of the folder where the workspace has several. */
const findDepotPath = Effect.fnUntraced(function* (session: P4Session, root: string, path: string) {
  let mapped: ReadonlyArray<string> = []
  for (const folder of new Set([root, path])) {
    mapped = yield* listMappings(session, folder)
    const [branch, ...others] = mapped
    if (branch === undefined || others.length > 0) continue
    const wrong = checkRoot(branch)
    if (wrong === undefined) return { branch, root: folder }
  }
  const text = mapped.length === 0 ? "no depot path" : `several depot paths (${mapped.slice(0, 5).join(", ")})`
  return yield* refused(`the client maps ${text} to ${path}; name a folder of one of them`)
})

const listMappings = Effect.fnUntraced(function* (session: P4Session, folder: string) {
  const found = new Set<string>()
  yield* readP4(
    session,
    { args: ["where", `${encodeName(folder)}/...`] },
    {
      record: ({ depotFile, unmap }) => {
        if (depotFile !== undefined && unmap === undefined) found.add(cleanRoot(depotFile))
      }
    }
  )
  return [...found]
})

/** Numbers, labels and dates, with or without the `@` of Perforce. */
const revisions = /^@?(\d{1,18}|[A-Za-z_][\w.-]{0,250}|\d{4}\/\d{2}\/\d{2}(?::\d{2}:\d{2}:\d{2})?)$/

const submittedEnds = Effect.fnUntraced(function* (
  session: P4Session,
  branch: string,
  base: string | undefined,
  head: string | undefined
) {
  const newest = (spec: string) => readNewest(session, `${branch}/...${spec}`)
  const last = yield* head === undefined ? newest("") : resolveChange(session, branch, head, "--head")
  if (last === undefined)
    return yield* refused(`${branch} has no submitted files${head === undefined ? "" : ` at ${head}`}`)
  const before = yield* base === undefined
    ? newest(`@${Number(last) - 1}`)
    : resolveChange(session, branch, base, "--base")
  const first = before ?? "0"
  if (Number(first) > Number(last)) return yield* refused(`--base ${base} is newer than the head @${last}`)
  return { head: last, headName: `@${last}`, base: first, baseName: `@${first}` }
})

const resolveChange = Effect.fnUntraced(function* (session: P4Session, branch: string, name: string, flag: string) {
  const revision = revisions.exec(name)?.[1]
  if (revision === undefined || revision.includes(".."))
    return yield* refused(`${flag}: invalid changelist "${name}"; expected a number, a label or a date (2026/01/31)`)
  return revision === "0" ? undefined : yield* readNewest(session, `${branch}/...@${revision}`)
})

const shelvedEnds = Effect.fnUntraced(function* (session: P4Session, branch: string, change: string) {
  if (!/^\d{1,18}$/.test(change)) return yield* refused(`--shelved: invalid changelist "${change}"; expected a number`)
  const shelf = yield* readShelf(session, change, maxShelf)
  if (shelf.state === "submitted")
    return yield* refused(`--shelved: changelist ${change} is submitted; review it by --head ${change}`)
  const { fold } = yield* readServerInfo(session)
  if (!shelf.files.some(({ depotFile }) => belowDepot(branch, depotFile, fold) !== undefined))
    return yield* refused(`--shelved: changelist ${change} has no shelved file below ${branch}`)
  const base = (yield* readNewest(session, `${branch}/...`)) ?? "0"
  return {
    head: `${change}-${shelfVersion(shelf)}`,
    headName: `shelved changelist ${change}`,
    base,
    baseName: `@${base}`
  }
})

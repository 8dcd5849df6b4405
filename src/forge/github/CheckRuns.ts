/**
 * The verdict about a commit as a check run, which only an app may write, with the name of the status. An account, and an installation
 * without the permission, write the status.
 *
 * A commit has one check that is not completed. It is updated; one that is completed is never opened again, but followed by a new one, which
 * takes its place. The records have the ids of the service's checks. Only where a write may have reached the host without being recorded, they
 * are read from the host: then a check is found that no other write would complete.
 */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { Severity } from "../../domain/Kinds.ts"
import type { StatusAnnotation, StatusState } from "../../domain/Publication.ts"
import type { ForgeClient, HostStatus } from "../Forge.ts"
import type { ForgeError } from "../ForgeError.ts"
import { readOwnStatus } from "../hosts/ReadChanges.ts"
import { isRefused } from "../http/HostWords.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { WrittenStatus } from "../WriteOwner.ts"
import type { Writing } from "../WriteOwner.ts"
import type { Access } from "./Access.ts"
import { statusContext, toExternalId } from "./CheckIdentity.ts"
import { githubStatus } from "./Comments.ts"
import { pages, refusals } from "./Facts.ts"
import { CheckRun, CheckRuns } from "./Responses.ts"

const inProgress = "in_progress"
const completed = "completed"

/** GitHub counts the conclusions `neutral` and `skipped` as passed where the check is required. */
export const conclusions = {
  pending: inProgress,
  success: "success",
  failure: "failure",
  neutral: "action_required"
} as const satisfies Readonly<Record<StatusState, string>>

const levels = {
  critical: "failure",
  high: "failure",
  medium: "warning",
  low: "notice",
  info: "notice"
} as const satisfies Readonly<Record<Severity, string>>

/** A check of the service on a commit. */
interface OwnCheck {
  readonly id: number
  readonly isOpen: boolean
  /** True if an earlier attempt of the same write completed it with the same conclusion. */
  readonly isSame: boolean
}

const toHostId = ({ id, status }: Pick<typeof CheckRun.Type, "id" | "status">): string =>
  `${id}:${status === completed ? completed : inProgress}`

/** Returns the checks that the records name. Ids of statuses, which an earlier configuration wrote, are none. */
export const parseHostIds = (hostIds: ReadonlyArray<string>): ReadonlyArray<OwnCheck> => {
  const isOpen = new Map<number, boolean>()
  for (const hostId of hostIds) {
    const [id = "", status] = hostId.split(":")
    if (status !== inProgress && status !== completed) continue
    const number = Number(id)
    isOpen.set(number, status === inProgress && isOpen.get(number) !== false)
  }
  return [...isOpen].map(([id, open]) => ({ id, isOpen: open, isSame: false }))
}

/** Returns the check to update, undefined for a new one, and those that another one replaced before they were completed. */
export const selectCheck = (checks: ReadonlyArray<OwnCheck>) => {
  const newest = checks.reduce<OwnCheck | undefined>(
    (one, other) => (one && one.id > other.id ? one : other),
    undefined
  )
  const target = newest !== undefined && (newest.isOpen || newest.isSame) ? newest.id : undefined
  return { target, stale: checks.flatMap(({ id, isOpen }) => (isOpen && id !== target ? [id] : [])) }
}

/** Returns the checks of the service on a commit, the newest first, with what they show. */
export const readChecks = Effect.fnUntraced(function* (
  { rest, self }: Pick<Access, "rest" | "self">,
  repo: Repo,
  head: string
) {
  const { username } = yield* self
  const { check_runs: listed } = yield* rest(repo).get(
    {
      path: `${repoPath}/commits/{ref}/check-runs`,
      params: { ...ownerAndName(repo), ref: head },
      query: { check_name: statusContext, filter: "all", per_page: pages.value }
    },
    CheckRuns
  )
  return listed
    .filter(({ app }) => `${app?.slug}[bot]` === username)
    .toSorted((one, other) => other.id - one.id)
    .map((check) => {
      const name = check.status === completed ? (check.conclusion ?? "") : inProgress
      return { check, seen: readOwnStatus(conclusions, { isOwn: true, name, createdAt: check.started_at }) }
    })
})

const toAnnotation = ({ end, message, path, severity, start, title }: StatusAnnotation) => ({
  path,
  start_line: start,
  end_line: end,
  annotation_level: levels[severity],
  title,
  message
})

const toBody = ({ description, details, key, number, state, url }: HostStatus) => ({
  external_id: toExternalId({ key, number }),
  ...(url === undefined ? {} : { details_url: url }),
  ...(state === "pending" ? { status: inProgress } : { status: completed, conclusion: conclusions[state] }),
  output: {
    title: description,
    summary: details === undefined ? description : details.text,
    ...(details === undefined || details.annotations.length === 0
      ? {}
      : { annotations: details.annotations.map(toAnnotation) })
  }
})

const withoutDetails = ({ details: _details, ...status }: HostStatus): HostStatus => status

const writeCheck = Effect.fnUntraced(function* (
  host: Pick<Access, "rest" | "self">,
  repo: Repo,
  head: string,
  status: HostStatus
) {
  const rest = host.rest(repo)
  const params = ownerAndName(repo)
  const written = yield* WrittenStatus
  const checks = written?.isCertain
    ? parseHostIds(written.hostIds)
    : (yield* readChecks(host, repo, head)).map(({ check }) => ({
        id: check.id,
        isOpen: check.status !== completed,
        isSame: check.external_id === toExternalId(status) && check.conclusion === conclusions[status.state]
      }))
  const create = (body: object) =>
    rest.write(
      {
        method: "POST",
        path: `${repoPath}/check-runs`,
        params,
        body: { name: statusContext, head_sha: head, ...body },
        content: false
      },
      CheckRun
    )
  const update = (id: number, body: object) =>
    rest.write(
      {
        method: "PATCH",
        path: `${repoPath}/check-runs/{check_run_id}`,
        params: { ...params, check_run_id: id },
        body,
        content: false
      },
      CheckRun
    )
  const { stale, target } = selectCheck(checks)
  const write = (body: object) =>
    target === undefined
      ? create(body)
      : Effect.catchIf(update(target, body), isRefused(refusals.checkGone), () => create(body))
  // The verdict is worth more than what is shown with it.
  const check = yield* status.details === undefined
    ? write(toBody(status))
    : Effect.catchIf(write(toBody(status)), isRefused(refusals.detailsRefused), () =>
        write(toBody(withoutDetails(status)))
      )
  for (const id of stale) yield* update(id, { status: completed, conclusion: "cancelled" })
  return { hostId: toHostId(check), url: check.html_url ?? undefined }
})

/** Shows the verdict as a check run where the credential may write one, and as a status elsewhere, with the reason if it is an app. */
export const githubVerdict = (host: Pick<Access, "mayCheck" | "rest" | "self">): ForgeClient["setStatus"] => {
  const { mayCheck } = host
  const setStatus = githubStatus(host.rest)
  if (mayCheck === undefined) return setStatus
  return Effect.fnUntraced(function* (repo, head, status): Effect.fn.Return<
    Effect.Success<ReturnType<typeof setStatus>>,
    ForgeError,
    Writing
  > {
    const written = (yield* mayCheck(repo))
      ? yield* Effect.catchIf(
          writeCheck(host, repo, head, status),
          isRefused(refusals.checkForbidden),
          () => Effect.undefined
        )
      : undefined
    if (written !== undefined) return written
    yield* Effect.logWarning("check run refused, commit status written instead", { repository: repo.fullName, head })
    return { ...(yield* setStatus(repo, head, status)), note: { _tag: "CheckRefused" } }
  })
}

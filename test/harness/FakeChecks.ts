/** Check runs at the fake GitHub, which only the installation of an app with the permission writes. Added to the dialect of an app. */
import { hasCommit } from "../../demo/DemoForgeGit.ts"
import type { DemoForge } from "../../demo/DemoForge.ts"
import { findRepository } from "../../demo/DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import type { DemoPull, DemoRepository, DemoState } from "../../demo/DemoForgeState.ts"
import { field, isText } from "./Fields.ts"
import { signGithub } from "./SignGithub.ts"
import type { GithubSigner } from "./SignGithub.ts"

export const installationToken = "app.installation.token"

interface FakeCheck {
  readonly id: number
  readonly head: string
  readonly name: string
  status: string
  conclusion: string | null
  externalId: string
  output: unknown
  /** Whether it was completed, and then changed to another status or conclusion. */
  isReopened: boolean
}

const granted = new WeakMap<DemoState, boolean>()
/** Grants the app the permission to write check runs, or withdraws it. */
export const grantChecks = ({ state }: { readonly state: DemoState }, isGranted = true) =>
  void granted.set(state, isGranted)
export const mayWriteChecks = (state: DemoState): boolean => granted.get(state) ?? false

const all = new WeakMap<DemoRepository, Array<FakeCheck>>()
/** Returns the check runs of a repository, oldest first. */
export const getChecks = (repository: DemoRepository): Array<FakeCheck> => {
  const found = all.get(repository) ?? []
  all.set(repository, found)
  return found
}

const refusal = (status: number, message: string): ApiAnswer => ({ status, body: { message } })

const toJson = ({ conclusion, externalId, head, id, name, output, status }: FakeCheck, url: string) => ({
  id,
  name,
  head_sha: head,
  status,
  conclusion,
  external_id: externalId,
  output,
  html_url: `${url}/checks/${id}`,
  started_at: new Date().toISOString(),
  app: { slug: "aicr" }
})

const change = (check: FakeCheck, body: unknown) => {
  const conclusion = field(body, "conclusion", isText)
  const status = conclusion === undefined ? (field(body, "status", isText) ?? check.status) : "completed"
  const isChanged = status !== check.status || (conclusion ?? check.conclusion) !== check.conclusion
  if (check.status === "completed" && isChanged) check.isReopened = true
  check.status = status
  check.conclusion = status === "completed" ? (conclusion ?? check.conclusion) : null
  check.externalId = field(body, "external_id", isText) ?? check.externalId
  check.output = Object(body).output ?? check.output
}

const onlyApp =
  (answer: (context: ApiContext, repository: DemoRepository) => ApiAnswer | Promise<ApiAnswer>): DemoRoute["answer"] =>
  (context) => {
    const repository = findRepository(context)
    if (repository === undefined) return refusal(404, "Not Found")
    const isApp = context.request.headers["authorization"] === `Bearer ${installationToken}`
    return isApp && mayWriteChecks(context.state)
      ? answer(context, repository)
      : refusal(403, "Resource not accessible by integration")
  }

/** Presses the button that repeats a check, for a person. */
export const repeatCheck = async (
  forge: GithubSigner & Pick<DemoForge, "send">,
  pull: DemoPull,
  login: string
): Promise<number> => {
  const check = getChecks(pull.repository).findLast(({ head }) => head === pull.head)
  if (check === undefined) throw new Error("the head has no check")
  const check_run = { name: check.name, head_sha: check.head, external_id: check.externalId, pull_requests: [] }
  const delivery = signGithub(forge, pull, "check_run", login, { action: "rerequested", check_run })
  return (await forge.send(delivery)).status
}

const repo = "/repos/{owner}/{repo}"
export const checkRoutes: ReadonlyArray<DemoRoute> = [
  {
    method: "POST",
    path: `${repo}/check-runs`,
    answer: onlyApp(async ({ request, state, url }, repository) => {
      const head = field(request.body, "head_sha", isText) ?? ""
      if (!(await hasCommit(repository.directory, head))) return refusal(422, `No commit found for SHA: ${head}`)
      const check: FakeCheck = {
        id: state.nextId(),
        head,
        name: field(request.body, "name", isText) ?? "",
        status: "queued",
        conclusion: null,
        externalId: "",
        output: undefined,
        isReopened: false
      }
      change(check, request.body)
      getChecks(repository).push(check)
      state.version++
      return { status: 201, body: toJson(check, url) }
    })
  },
  {
    method: "PATCH",
    path: `${repo}/check-runs/{id}`,
    answer: onlyApp(({ params, request, state, url }, repository) => {
      const check = getChecks(repository).find(({ id }) => id === Number(params["id"]))
      if (check === undefined) return refusal(404, "Not Found")
      change(check, request.body)
      state.version++
      return { status: 200, body: toJson(check, url) }
    })
  },
  {
    method: "GET",
    path: `${repo}/commits/{ref}/check-runs`,
    answer: (context) => {
      const repository = findRepository(context)
      if (repository === undefined) return refusal(404, "Not Found")
      const name = context.request.query.get("check_name")
      const found = getChecks(repository).filter((one) => one.head === context.params["ref"] && one.name === name)
      const check_runs = found.toReversed().map((check) => toJson(check, context.url))
      return { status: 200, body: { total_count: check_runs.length, check_runs } }
    }
  }
]

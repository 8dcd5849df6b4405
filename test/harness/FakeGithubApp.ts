/**
 * A GitHub App at the fake host: its tokens, which are those of the account `aicr`, and the log of the deliveries to its webhook, which are
 * sent again on request. Added to the dialect of the fake forge.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { page } from "../../demo/DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoDialect, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import type { DemoDelivery, DemoForge } from "../../demo/DemoForge.ts"
import type { DemoState } from "../../demo/DemoForgeState.ts"
import { checkRoutes, installationToken, mayWriteChecks } from "./FakeChecks.ts"

interface LoggedAttempt {
  /** Beyond the exact integers, as those of the host. */
  readonly id: string
  readonly delivery: DemoDelivery
  readonly repositoryId: number
  readonly at: string
  readonly status: number
  readonly isRepeated: boolean
}

interface AppLog {
  /** Oldest first. */
  readonly attempts: Array<LoggedAttempt>
  /** GUIDs in the order of the requests to send them again. */
  readonly repeated: Array<string>
}

const logs = new WeakMap<DemoState, AppLog>()
export const getAppLog = ({ state }: Pick<DemoForge, "state">): AppLog => {
  const log = logs.get(state) ?? { attempts: [], repeated: [] }
  logs.set(state, log)
  return log
}

const firstId = 2_117_503_300_239_360_001n

export const logAttempt = (
  forge: Pick<DemoForge, "state">,
  delivery: DemoDelivery,
  status: number,
  repositoryId: number,
  isRepeated = false
): void => {
  const { attempts } = getAppLog(forge)
  const id = String(firstId + BigInt(attempts.length))
  attempts.push({ id, delivery, status, repositoryId, at: forge.state.now(), isRepeated })
}

/** Whether it is a web token, which an app signs. */
export const isAppToken = (token: string): boolean => token.split(".").length === 3

const payloadOf = ({ delivery }: LoggedAttempt) => JSON.parse(delivery.body.toString("utf8"))

const attemptJson = (attempt: LoggedAttempt) => ({
  // A number that JavaScript cannot hold.
  id: Object(JSON).rawJSON(attempt.id),
  guid: attempt.delivery.id,
  delivered_at: attempt.at,
  redelivery: attempt.isRepeated,
  duration: 0.1,
  status: attempt.status === 0 ? "failed to connect to host" : String(attempt.status),
  status_code: attempt.status,
  event: attempt.delivery.headers["x-github-event"],
  action: payloadOf(attempt).action ?? null,
  installation_id: 77,
  repository_id: attempt.repositoryId
})

const list = (context: ApiContext): ApiAnswer => {
  const { query } = context.request
  const latest = getAppLog(context).attempts.toReversed()
  const from = latest.findIndex(({ id }) => `v1_${id}` === query.get("cursor"))
  const rest = latest.slice(Math.max(0, from))
  const size = { name: "per_page", standard: 30, most: 100 }
  const { items } = page(context, rest, size)
  const next = rest[items.length]
  const link = `<${context.url}/api/v3/app/hook/deliveries?per_page=${items.length}&cursor=v1_${next?.id}>; rel="next"`
  return { status: 200, headers: next === undefined ? {} : { link }, body: items.map(attemptJson) }
}

const missing: ApiAnswer = { status: 404, body: { message: "Not Found" } }
const find = (context: ApiContext) => getAppLog(context).attempts.find(({ id }) => id === context.params["delivery_id"])

/** Sends a delivery again a moment after the response, like the host. */
const repeat = (context: ApiContext): ApiAnswer => {
  const attempt = find(context)
  if (attempt === undefined) return missing
  const { delivery, repositoryId } = attempt
  getAppLog(context).repeated.push(delivery.id)
  void sleep(20)
    .then(() => fetch(delivery.url, { method: "POST", headers: delivery.headers, body: new Uint8Array(delivery.body) }))
    .then(
      ({ status }) => logAttempt(context, delivery, status, repositoryId, true),
      () => logAttempt(context, delivery, 0, repositoryId, true)
    )
  return { status: 202, body: {} }
}

const routes: ReadonlyArray<DemoRoute> = [
  { method: "GET", path: "/repos/{owner}/{repo}/installation", answer: () => ({ status: 200, body: { id: 77 } }) },
  {
    method: "POST",
    path: "/app/installations/{installation_id}/access_tokens",
    answer: ({ state }) => ({
      status: 201,
      body: {
        token: installationToken,
        expires_at: new Date(Date.now() + 3_600_000).toISOString(),
        permissions: mayWriteChecks(state) ? { checks: "write" } : { statuses: "write" }
      }
    })
  },
  { method: "GET", path: "/app/hook/deliveries", answer: list },
  {
    method: "GET",
    path: "/app/hook/deliveries/{delivery_id}",
    answer: (context) => {
      const attempt = find(context)
      return attempt === undefined
        ? missing
        : { status: 200, body: { ...attemptJson(attempt), request: { headers: {}, payload: payloadOf(attempt) } } }
    }
  },
  { method: "POST", path: "/app/hook/deliveries/{delivery_id}/attempts", answer: repeat }
]

export const withApp = (dialect: DemoDialect): DemoDialect => ({
  ...dialect,
  routes: [...routes, ...checkRoutes, ...dialect.routes]
})

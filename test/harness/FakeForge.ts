/**
 * The demo forge as a test wants it: faults on demand, every request remembered and checked against the host's API description.
 * `expectContract` fails the test on a violation; call it in an `afterEach` or at the end.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Redacted } from "effect"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import { startDemoForge } from "../../demo/DemoForge.ts"
import type { DemoForge, DemoForgeOptions, Fault } from "../../demo/DemoForge.ts"
import type { ApiRequest, DemoDialect } from "../../demo/DemoForgeDialect.ts"
import { giteaDialect } from "../../demo/DemoForgeGitea.ts"
import { hostUrls } from "../../src/domain/HostUrls.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import { withAccess } from "./FakeAccess.ts"
import { withCi } from "./FakeCi.ts"
import { withHooks } from "./FakeHooks.ts"
import { withConversations } from "./FakeHostConversations.ts"
import { getIssues, withIssues } from "./FakeIssues.ts"
import type { FakeIssues } from "./FakeIssues.ts"
import { withGraphql } from "./FakeGraphql.ts"
import { withThreads } from "./FakeThreads.ts"
import { githubDialect } from "./FakeGithub.ts"
import { isAppToken, withApp } from "./FakeGithubApp.ts"
import { gitlabDialect } from "./FakeGitlab.ts"
import { openApi } from "./OpenApi.ts"
import { triggerDefaults } from "./TriggerDefaults.ts"

/** Returns Gitea's dialect with the version of a Forgejo. */
function asForgejo(dialect: DemoDialect): DemoDialect {
  const routes = dialect.routes.map((route) =>
    route.path === "/version"
      ? { ...route, answer: () => ({ status: 200, body: { version: "16.0.1+gitea-1.22.0" } }) }
      : route
  )
  return { ...dialect, routes }
}

const dialects: Readonly<Record<ForgeKind, DemoDialect>> = {
  gitea: withCi("gitea", build("gitea", giteaDialect)),
  forgejo: build("forgejo", asForgejo(giteaDialect)),
  github: withCi("github", withGraphql(withApp(build("github", githubDialect)))),
  gitlab: withCi("gitlab", build("gitlab", gitlabDialect))
}

function build(host: ForgeKind, dialect: DemoDialect): DemoDialect {
  const kind = host === "forgejo" ? "gitea" : host
  return withConversations(host, withAccess(kind, withThreads(kind, withIssues(kind, withHooks(kind, dialect)))))
}

export interface Seen {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: unknown
  readonly status: number | undefined
}

export interface FakeForge extends DemoForge {
  readonly kind: ForgeKind
  readonly token: string
  readonly secret: string
  readonly requests: ReadonlyArray<Seen>
  readonly writes: () => ReadonlyArray<Seen>
  /** The next `times` requests that fit get this fault. */
  readonly fail: (fits: string | RegExp, fault: Fault, times?: number) => void
  /** Issues, labels and commit comments of a repository. */
  readonly issues: (fullName: string) => FakeIssues
  readonly clearFaults: () => void
  /** Gives the account of the token another name, also on what it wrote. */
  readonly renameSelf: (login: string) => void
  /** Decides on every request from now on, in place of what decided before. */
  readonly intercept: (decide: (request: ApiRequest) => Fault | undefined) => void
  readonly violations: ReadonlyArray<string>
  /** Throws when a request did not follow the host's API description. */
  readonly expectContract: () => void
  /** A trigger profile for this host. */
  readonly profile: (name?: string) => TriggerProfile
}

/** The knobs. */
export const fault = {
  unauthorized: answered(401, { message: "token is required" }),
  forbidden: answered(403, { message: "user should have a permission to write to a repo" }),
  rateLimited: answered(403, { message: "API rate limit exceeded" }, { "x-ratelimit-remaining": "0" }),
  missing: answered(404, { message: "The target couldn't be found." }),
  conflict: answered(409, { message: "conflict" }),
  invalid: answered(422, { message: "Validation Failed" }),
  broken: answered(500, { message: "internal error" }),
  unavailable: answered(503, { message: "come back later" }),
  cut: { kind: "cut" },
  lost: { kind: "lost" },
  hung: { kind: "hung" },
  half: { kind: "half" },
  tooMany: (retryAfter: string): Fault => answered(429, { message: "slow down" }, { "retry-after": retryAfter }),
  slow: (millis: number): Fault => ({ kind: "slow", millis }),
  answered
} as const

function answered(status: number, body: unknown, headers: Record<string, string> = {}): Fault {
  return { kind: "answer", answer: { status, body, headers } }
}

const readable = (request: ApiRequest): string => `${request.method} ${request.path}`

export const startFakeForge = async (
  kind: ForgeKind = "gitea",
  options: Partial<DemoForgeOptions> = {}
): Promise<FakeForge> => {
  const own = options.directory === undefined ? await mkdtemp(join(tmpdir(), "aicr-forge-")) : undefined
  const directory = options.directory ?? own ?? ""
  const token = options.token ?? "t0ken-of-the-reviewer"
  const secret = options.secret ?? "webhook-secret"
  const requests: Array<Seen> = []
  const violations: Array<string> = []
  let faults: Array<{ readonly fits: string | RegExp; readonly fault: Fault; times: number }> = []
  let decide = options.onRequest
  const check = openApi(kind)

  const forge = await startDemoForge({
    ...options,
    directory,
    token,
    secret,
    dialect: dialects[kind],
    loginOf: (found) => (kind === "github" && isAppToken(found) ? "aicr" : undefined),
    onRequest: (request) => {
      violations.push(...(check?.(request) ?? []))
      const text = readable(request)
      const found = faults.find(
        ({ fits, times }) => times > 0 && (typeof fits === "string" ? text.includes(fits) : fits.test(text))
      )
      if (found !== undefined) found.times--
      const thrown = found?.fault ?? decide?.(request)
      if (thrown?.kind === "cut") requests.push(seen(request, undefined))
      return thrown
    },
    onAnswer: (request, answer) => {
      requests.push(seen(request, answer.status))
      options.onAnswer?.(request, answer)
    }
  })
  return {
    ...forge,
    kind,
    token,
    secret,
    requests,
    violations,
    writes: () => requests.filter((request) => request.method !== "GET"),
    fail: (fits, thrown, times = 1) => void faults.push({ fits, fault: thrown, times }),
    issues: (fullName) => getIssues(forge.repository(fullName)),
    clearFaults: () => {
      faults = []
    },
    renameSelf: (login) => void Object.assign(forge.user("aicr"), { login }),
    intercept: (next) => {
      decide = next
    },
    expectContract: () => {
      if (violations.length > 0) throw new Error(`requests against the API description:\n${violations.join("\n")}`)
    },
    profile: (name = "host") => ({
      name,
      kind,
      enabled: true,
      webhookSecret: Redacted.make(secret),
      token: Redacted.make(token),
      ...hostUrls(kind, forge.url),
      settings: { name, kind, ...triggerDefaults, base_url: forge.url }
    }),
    stop: async () => {
      await forge.stop()
      if (own !== undefined) await rm(own, { recursive: true, force: true })
    }
  }
}

const seen = (request: ApiRequest, status: number | undefined): Seen => ({
  method: request.method,
  path: request.path,
  query: request.query.toString(),
  body: request.body,
  status
})

/** The trigger of a fake host at `url`, with its credentials in variables. Writes follow each other as fast as to a host of one's own. */
export const makeHostTrigger = (kind: string, url: string) => ({
  name: "host",
  kind,
  base_url: url,
  token_env: "TEST_TOKEN",
  webhook_secret_env: "TEST_SECRET",
  write_interval_ms: 20
})

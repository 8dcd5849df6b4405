/**
 * `aicr demo`: the real service in its embedded profile, in a temporary folder, with a small git host. The bundled change is
 * pushed and opened as a pull request, and the host's signed webhook starts the review. Wiring only: it starts the same parts as
 * `aicr serve`, except for the host and, without a key in the environment, the model.
 */
import { Deferred, Effect, Layer, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stringify } from "yaml"
import { ExitWith } from "../src/cli/Exit.ts"
import { endWithCode } from "../src/cli/ExitCodes.ts"
import { roles } from "../src/domain/Role.ts"
import { layerFile } from "../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../src/config/LoadConfig.ts"
import { IngressServer } from "../src/ingress/Server.ts"
import { detectModel } from "../src/llm/providers/Detect.ts"
import type { DetectedModel } from "../src/llm/providers/Detect.ts"
import * as Logging from "../src/observability/logs/Logging.ts"
import { Progress } from "../src/observability/Progress.ts"
import type { ProgressEvent } from "../src/observability/Progress.ts"
import { findInstalled } from "../src/app/AgentSetup.ts"
import { readRevisions } from "../src/app/ConfigSource.ts"
import * as Service from "../src/app/Service.ts"
import { chatDocument, holdConversation, startDemoChat } from "./DemoChat.ts"
import type { DemoChat } from "./DemoChat.ts"
import { editConfiguration } from "./DemoEdits.ts"
import { readDemoChange } from "./DemoChange.ts"
import type { DemoChange } from "./DemoChange.ts"
import { inEnglish } from "../src/text/en.ts"
import { concerns, createHistory, pushToMain } from "./DemoHistory.ts"
import { openDashboard } from "./DemoLogin.ts"
import { demoDocument, secretVariable, tokenVariable } from "./DemoConfig.ts"
import { startDemoForge } from "./DemoForge.ts"
import type { DemoForge } from "./DemoForge.ts"
import type { DemoEvent } from "./DemoForgeDialect.ts"
import type { DemoPull } from "./DemoForgeState.ts"
import { demoModelName, startDemoModel } from "./DemoModel.ts"
import { readBack } from "./DemoResult.ts"
import type { DemoResult } from "./DemoResult.ts"
import { makeTerminal, showNextSteps, showProgress } from "./DemoTerminal.ts"
import type { Terminal } from "./DemoTerminal.ts"

export interface DemoOptions {
  /** Exit when the review has ended. */
  readonly once: boolean
  /** One JSON object on standard output; everything else goes to standard error. */
  readonly json: boolean
  /** Agent CLI that reviews, in place of native-llm. */
  readonly agent: string | undefined
}

/** The account of the reviewer at the demo host. */
const reviewer = "aicr"
/** Author of the pull request, who pushes a fix. */
const author = "dana"
/** Person who reads the pages: another one than the author, because authors dismiss nothing. */
const maintainer = "mika"
const maxWait = "15 minutes"

type Finished = Extract<ProgressEvent, { readonly _tag: "Finished" }>

export const demo = (options: DemoOptions): Effect.Effect<void, ExitWith> =>
  Effect.flatMap(demoAgent(options.agent), (agent) => run({ ...options, agent })).pipe(
    Effect.scoped,
    Effect.provide(process.env["SVC_LOG_LEVEL"] === undefined ? quietLogs : Logging.layer),
    endWithCode
  )

/** The steps are already printed, so logs only add failures. */
const quietLogs = Logging.layerAt("warn")

const run = Effect.fnUntraced(function* (options: DemoOptions & { readonly agent: string }) {
  const terminal = makeTerminal(options.json ? process.stderr : process.stdout, process.env)
  const change = yield* Effect.promise(() => readDemoChange())
  const directory = yield* temporaryFolder
  const model = yield* modelFor(process.env)
  const chat = options.once ? undefined : yield* startDemoChat
  const { forge, pull, token, secret, authorToken } = yield* startHost(directory, change)

  const password = randomBytes(9).toString("base64url")
  const env = { ...demoEnvironment(token, secret, password), ...chat?.env }
  const document = demoDocument({
    forgeUrl: forge.url,
    repository: change.repository,
    model,
    agent: options.agent,
    chat: chat === undefined ? undefined : chatDocument(chat.url, maintainer)
  })
  const snapshot = yield* toSnapshot(document, env, { baseDir: directory })
  const service = Service.layer({ roles: new Set(roles), ingress: { port: 0 } }).pipe(
    Layer.provide(yield* configured(directory, document, env)),
    Layer.provideMerge(Progress.layer)
  )

  yield* Effect.gen(function* () {
    const { url } = yield* IngressServer
    const progress = yield* Progress
    forge.setWebhookUrl(`${url}/webhooks/gitea`)
    showStart(terminal, { directory, model, page: forge.pageOf(pull), title: change.title, url })

    const finished = yield* Deferred.make<Finished>()
    let models: ReadonlyArray<string> = []
    let history: ReadonlyArray<DemoPull> = []
    yield* progress.events.pipe(
      Stream.runForEach((event) =>
        Effect.suspend(() => {
          if (concerns(history, event.targetKey)) return Effect.void
          showProgress(terminal, event)
          if (event._tag === "Analysed") models = event.models
          return event._tag === "Finished" ? Deferred.succeed(finished, event) : Effect.void
        })
      ),
      Effect.forkScoped({ startImmediately: true })
    )

    const started = performance.now()
    const delivered = yield* Effect.promise(() => forge.notify(pull, "opened"))
    if (delivered.status !== 202) {
      return yield* new ExitWith({ code: 3, message: `the webhook was refused with status ${delivered.status}` })
    }
    terminal.step("webhook", `accepted, ${JSON.stringify(delivered.body)}`)
    const end = yield* Deferred.await(finished).pipe(
      Effect.timeoutOrElse({
        duration: maxWait,
        orElse: () => new ExitWith({ code: 3, message: `the review did not end within ${maxWait}` })
      })
    )
    const result: DemoResult = {
      model: models[0] ?? `${model.provider.id}/${model.model}`,
      accepted: isAccepted(delivered.body),
      run: { id: end.runId, status: end.status, reason: end.reason },
      ...readBack(pull, reviewer),
      elapsed_ms: Math.round(performance.now() - started)
    }
    if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`)
    const dashboard = `${url}/dashboard`
    const login = options.once ? dashboard : yield* openDashboard(snapshot, dashboard)
    showEnd(terminal, result, { page: forge.pageOf(pull), dashboard: login })
    if (chat !== undefined) {
      yield* Effect.promise(() => addHistory(forge, change, (pulls) => (history = pulls)))
      yield* Effect.forkScoped(fillPages(chat, url, history, editConfiguration(snapshot, model)))
      const clone = cloneUrl(forge.url, change.repository, authorToken)
      showServices(terminal, { url, password, clone, branch: change.branch })
      return yield* Effect.never
    }
    if (result.run.status !== "succeeded") {
      const message = `the review ended as ${result.run.status}: ${result.run.reason === undefined ? "" : inEnglish(result.run.reason)}`
      return yield* new ExitWith({ code: 3, message })
    }
  }).pipe(Effect.provide(service))
})

/** Writes the configuration, which revisions of the database are added to. */
const configured = Effect.fnUntraced(function* (directory: string, document: object, env: NodeJS.ProcessEnv) {
  const file = join(directory, "config.yaml")
  yield* Effect.promise(() => writeFile(file, stringify(document)))
  return layerFile(file, env, { revisions: readRevisions })
})

/** Opens more pull requests, which `remember` is called with first, and pushes to the main branch. */
const addHistory = async (
  forge: DemoForge,
  change: DemoChange,
  remember: (pulls: ReadonlyArray<DemoPull>) => void
): Promise<void> => {
  const pulls = await createHistory(forge, change, { author, maintainer })
  remember(pulls)
  await Promise.all(pulls.map((one) => forge.notify(one, "opened")))
  await pushToMain(forge, change, maintainer)
}

/** Adds what other pages show. The service may be ending. */
const fillPages = (
  chat: DemoChat,
  url: string,
  history: ReadonlyArray<DemoPull>,
  edits: ReturnType<typeof editConfiguration>
) =>
  edits.pipe(
    Effect.andThen(
      Effect.tryPromise(() => {
        const draft = history.find((pull) => pull.draft)?.number ?? 0
        return holdConversation(chat, url, { draft, person: maintainer })
      })
    ),
    Effect.catchCause((cause) => Effect.logWarning("pages of the demo not filled", cause))
  )

const demoEnvironment = (token: string, secret: string, password: string) => ({
  ...process.env,
  [tokenVariable]: token,
  [secretVariable]: secret,
  // The dashboard and the administration are available only with a configured administrator.
  SVC_CONFIG_SECRETS_KEY: randomBytes(32).toString("hex"),
  SVC_ADMIN_USERNAME: "demo",
  SVC_ADMIN_PASSWORD: password
})

/** Returns the mode of the demo. The service looks for an agent CLI where it is installed, and not in the folder of the demo. */
const demoAgent = Effect.fnUntraced(function* (name: string | undefined) {
  if (name === undefined || name === "native-llm") return "native-llm"
  const { folder, mode } = yield* findInstalled(name)
  process.env["SVC_AGENTS_DIR"] = folder
  return mode
})

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "aicr-demo-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
)

const modelFor = Effect.fnUntraced(function* (env: NodeJS.ProcessEnv) {
  const found = detectModel(env)
  if (found !== undefined) return found
  const base_url = yield* startDemoModel
  const own: DetectedModel = {
    provider: { id: "demo", kind: "openai_compatible", base_url },
    model: demoModelName
  }
  return own
})

const describeModel = ({ provider, model }: DetectedModel): string =>
  model === demoModelName
    ? `${model}: static rules, not a language model (set a provider's key, such as ANTHROPIC_API_KEY, for a real one)`
    : `${provider.id}/${model}`

/** Sends the webhook of an event that a person caused. The service may be ending. */
const sendEvent = (forge: DemoForge, event: DemoEvent): void => {
  forge.send(forge.delivery(event)).catch((cause: unknown) => {
    process.stderr.write(`the webhook was not delivered: ${String(cause)}\n`)
  })
}

const startHost = Effect.fnUntraced(function* (directory: string, change: DemoChange) {
  const token = randomBytes(20).toString("hex")
  const secret = randomBytes(20).toString("hex")
  const authorToken = randomBytes(20).toString("hex")
  const forge: DemoForge = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = join(directory, "host")
      await mkdir(folder)
      return startDemoForge({
        directory: folder,
        token,
        secret,
        accounts: { [authorToken]: author },
        visitor: maintainer,
        onEvent: (event) => sendEvent(forge, event)
      })
    }),
    (started) => Effect.promise(() => started.stop())
  )
  const pull = yield* Effect.promise(async () => {
    const { repository, branch, title, description, commit } = change
    await forge.createRepository(repository)
    forge.setPermission(repository, maintainer, "write")
    await forge.push(repository, { branch: "main", message: "Parcels", files: change.base })
    await forge.push(repository, { branch, from: "main", message: commit, files: change.head })
    return forge.createPull(repository, { title, description, headBranch: branch, baseBranch: "main", author })
  })
  return { forge, pull, token, secret, authorToken }
})

const isAccepted = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "accepted" in body && body.accepted === true

const showEnd = (
  terminal: Terminal,
  result: DemoResult,
  places: { readonly page: string; readonly dashboard: string }
): void => {
  const lines = result.comments.length
  terminal.line(
    `\n  ${lines} inline ${lines === 1 ? "comment" : "comments"} on the pull request, ${(result.elapsed_ms / 1000).toFixed(1)} s after the webhook.\n`
  )
  terminal.step("read it at", terminal.bold(places.page))
  terminal.step("dashboard", places.dashboard)
}

const showStart = (
  terminal: Terminal,
  places: Readonly<Record<"directory" | "page" | "title" | "url", string>> & { readonly model: DetectedModel }
): void => {
  terminal.line(`\n${terminal.bold("aicr demo")} ${terminal.dim(places.directory)}\n`)
  terminal.step("model", describeModel(places.model))
  terminal.step("host", `${places.page} ${terminal.dim(places.title)}`)
  terminal.step("service", `${places.url}\n`)
}

const showServices = (
  terminal: Terminal,
  { password, url, ...next }: Parameters<typeof showNextSteps>[1] & { readonly password: string; readonly url: string }
): void => {
  terminal.step(
    "chat",
    `${url}/dashboard/chat ${terminal.dim(`what ${maintainer} asked a bot on a simulated platform, and its replies; docs/chat.md connects a bot of yours`)}`
  )
  terminal.step("api", `${url}/api/admin ${terminal.dim(`user demo, password ${password}`)}`)
  showNextSteps(terminal, next)
  terminal.line(`\n  Ctrl-C ends the demo and removes its folder.`)
}

/** URL with the credentials of the author, who exists on this host only. */
const cloneUrl = (forge: string, repository: string, token: string): string => {
  const url = new URL(`${forge}/${repository}.git`)
  url.username = author
  url.password = token
  return url.href
}

/** Builds the configuration of a local review: from a file, or from a model whose key is in the environment. */
import { Effect } from "effect"
import { addWorkspace, toSnapshot } from "../../config/LoadConfig.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import { refused } from "../Exit.ts"
import type { ExitWith } from "../Exit.ts"
import { readSnapshot } from "../ReadSnapshot.ts"
import type { StoredRevisions } from "../ReadSnapshot.ts"

/** A provider in the format of `llm.providers`, and one of its models. */
interface FoundModel {
  readonly provider: Readonly<Record<string, unknown>> & { readonly id: string }
  readonly model: string
}

/** Finds a model without any configuration. */
export interface ModelFinder {
  readonly find: (env: NodeJS.ProcessEnv) => FoundModel | undefined
  /** Environment variables that are checked, for the message if none is set. */
  readonly variables: ReadonlyArray<string>
}

export interface LocalConfig {
  readonly snapshot: Snapshot
  readonly workspace: Workspace
}

export interface LocalConfigOptions {
  readonly config: string | undefined
  readonly workspace: string | undefined
  /** Model as `provider/model`. */
  readonly model: string | undefined
  /** Ignores the database of the configuration. */
  readonly fileOnly: boolean
}

export const localConfig = (
  options: LocalConfigOptions,
  finder: ModelFinder,
  env: NodeJS.ProcessEnv
): Effect.Effect<LocalConfig, ExitWith, StoredRevisions> =>
  options.config === undefined ? fromEnvironment(options, finder, env) : fromFile(options.config, options, env)

const fromFile = Effect.fnUntraced(function* (file: string, options: LocalConfigOptions, env: NodeJS.ProcessEnv) {
  // Only the credentials of the review must be set: webhook secrets and tokens of hosts are not.
  const snapshot = yield* readSnapshot(file, { fileOnly: options.fileOnly, env })
  const ids = [...snapshot.workspaces.keys()]
  const id = options.workspace ?? (ids.length === 1 ? ids[0] : undefined)
  const workspace =
    id !== undefined ? snapshot.workspaces.get(id) : ids.length === 0 ? addWorkspace(snapshot, onlyId) : undefined
  if (workspace === undefined) {
    const known = ids.length === 0 ? "it has none" : `it has ${ids.slice(0, 20).join(", ")}`
    return yield* refused(`${file}: name the workspace whose settings to use by --workspace; ${known}`)
  }
  return options.model === undefined ? { snapshot, workspace } : yield* withModel(snapshot, workspace, options.model)
})

const onlyId = "local"

const group = "command-line"

/** Replaces the workspace's group by the model of the command line, called directly whatever the agent mode is. */
export const withModel = Effect.fnUntraced(function* (snapshot: Snapshot, workspace: Workspace, name: string) {
  const [id, model] = yield* splitModel(name)
  const { llm } = snapshot.document
  const known = llm.providers.map((provider) => provider.id)
  if (!known.includes(id)) {
    return yield* refused(`--model ${name}: unknown provider ${id}; llm.providers has ${known.join(", ") || "none"}`)
  }
  const model_chain = { ...llm.model_chain, [group]: [{ provider: id, model, role: "any" as const }] }
  return {
    snapshot: { ...snapshot, document: { ...snapshot.document, llm: { ...llm, model_chain } } },
    workspace: { ...workspace, modelChain: group, agent: { ...workspace.agent, default: "native-llm" as const } }
  }
})

const splitModel = (name: string): Effect.Effect<readonly [string, string], ExitWith> => {
  const slash = name.indexOf("/")
  return slash < 1 || slash === name.length - 1
    ? refused(`--model ${name}: write provider/model`)
    : Effect.succeed([name.slice(0, slash), name.slice(slash + 1)])
}

const fromEnvironment = Effect.fnUntraced(function* (
  options: LocalConfigOptions,
  finder: ModelFinder,
  env: NodeJS.ProcessEnv
) {
  if (options.workspace !== undefined) return yield* refused("--workspace needs --config")
  const found = finder.find(options.model === undefined ? env : { ...env, AICR_MODEL: options.model })
  if (found === undefined) {
    return yield* refused(
      `no model configured: none of ${finder.variables.join(", ")} is set. Set one, or name a configuration with --config. To see a review without a model: npm run demo`
    )
  }
  const [provider, model] =
    options.model === undefined ? [found.provider.id, found.model] : yield* splitModel(options.model)
  if (provider !== found.provider.id) {
    return yield* refused(
      `--model ${options.model}: the environment has credentials for ${found.provider.id} only; set those of ${provider} (checked: ${finder.variables.join(", ")}) or use --config`
    )
  }
  const document = {
    llm: { providers: [found.provider], model_chain: { default: [{ provider, model }] } },
    triggers: [{ name: "local", kind: "manual" }],
    workspaces: { instances: { [onlyId]: { source_repo: { trigger: "local", repo: "local" } } } },
    agent: { default: "native-llm" },
    review: { output_language: languageOf(env) }
  }
  const snapshot = yield* toSnapshot(document, env).pipe(Effect.mapError(({ message }) => refused(message)))
  const workspace = snapshot.workspaces.get(onlyId)
  return workspace === undefined
    ? yield* refused("the environment gives no complete configuration")
    : { snapshot, workspace }
})

/** Returns the language of the terminal: `de_DE.UTF-8` is `de-DE`; English by default. */
const languageOf = (env: NodeJS.ProcessEnv): string => {
  const locale = env["LC_ALL"] || env["LC_MESSAGES"] || env["LANG"] || ""
  return /^([a-z]{2,3})(?:[_-]([A-Z]{2}))?(?:[.@]|$)/.exec(locale)?.slice(1, 3).filter(Boolean).join("-") || "en"
}

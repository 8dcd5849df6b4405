/**
 * Resolves a valid document: trigger profiles with their credentials, and each workspace with its layers merged. Order of the layers,
 * nearest last: global, `workspaces.defaults`, instance.
 */
import { Result } from "effect"
import { resolve as resolvePath } from "node:path"
import { hostUrls } from "../../domain/HostUrls.ts"
import type { Env } from "../Credentials.ts"
import { credential } from "../Credentials.ts"
import { mergeLayers, resolve } from "../fields/Defaults.ts"
import type { Document, GivenDocument } from "../Document.ts"
import { AgentConfig, SandboxConfig } from "../schema/Agent.ts"
import { OutputsConfig } from "../schema/Outputs.ts"
import { ReviewConfig } from "../schema/Review.ts"
import type { ReviewLayer } from "../schema/Review.ts"
import type { Trigger } from "../schema/Triggers.ts"
import { ContextRepository, Triage, WorkspacePrompt } from "../schema/Workspaces.ts"
import type { Snapshot, TriggerProfile, Workspace } from "../Snapshot.ts"
import type { WorkPath } from "./WorkPath.ts"
import { compileWorkPath, defaultWorkPath } from "./WorkPath.ts"

/** Resolves relative paths from the document's directory. */
const located = (trigger: Trigger, baseDir: string): Trigger => {
  const { app, tls_ca_path: roots } = trigger
  const key = app?.private_key_path
  return {
    ...trigger,
    ...(roots === undefined ? {} : { tls_ca_path: resolvePath(baseDir, roots) }),
    ...(app === undefined || key === undefined ? {} : { app: { ...app, private_key_path: resolvePath(baseDir, key) } })
  }
}

export const resolveTrigger = (trigger: Trigger, env: Env, baseDir: string): TriggerProfile => {
  return {
    name: trigger.name,
    kind: trigger.kind,
    enabled: trigger.enabled,
    webhookSecret: credential(trigger, "webhook_secret", env),
    token: credential(trigger, "token", env),
    ...hostUrls(trigger.kind, trigger.base_url),
    settings: located(trigger, baseDir)
  }
}

/** Pull requests without a schedule use that of automatic commits. */
const withScheduleFallback = (layer: ReviewLayer): ReviewLayer => {
  const commits = layer.auto_commit?.schedule
  const own = layer.pull_request?.schedule
  if (own?.rules !== undefined || commits === undefined) return layer
  return { ...layer, pull_request: { ...layer.pull_request, schedule: { ...commits, ...own } } }
}

export const resolveWorkspaces = (
  given: GivenDocument,
  document: Document,
  snapshot: () => Snapshot
): ReadonlyMap<string, Workspace> => {
  const { defaults } = document.workspaces
  const review = (own?: ReviewLayer): Workspace["review"] => {
    return resolve(ReviewConfig, withScheduleFallback(mergeLayers(given.review, defaults.review, own) ?? {}))
  }
  const shared = {
    review: review(),
    agent: resolve(AgentConfig, given.agent, defaults.agent),
    outputs: resolve(OutputsConfig, given.outputs, defaults.outputs),
    prompt: resolve(WorkspacePrompt, defaults.prompt),
    triage: resolve(Triage, defaults.triage)
  }
  const anyGroups = Object.keys(document.llm.model_chain).length > 0
  const workPath = workPaths()
  const workspaces = new Map<string, Workspace>()
  for (const [id, instance] of Object.entries(document.workspaces.instances)) {
    const sandbox = resolve(
      SandboxConfig,
      given.agent?.sandbox,
      defaults.agent?.sandbox,
      defaults.sandbox,
      instance.agent?.sandbox,
      instance.sandbox
    )
    const agent =
      instance.agent === undefined ? shared.agent : resolve(AgentConfig, given.agent, defaults.agent, instance.agent)
    const main = instance.model_chain ?? defaults.model_chain ?? document.llm.default_model_chain
    const chains = {
      modelChain: main,
      triageModelChain:
        instance.triage_model_chain ?? defaults.triage_model_chain ?? document.llm.triage_model_chain ?? main,
      authorResolutionModelChain:
        instance.author_resolution_model_chain ??
        defaults.author_resolution_model_chain ??
        document.llm.author_resolution_model_chain ??
        document.llm.default_model_chain
    }
    const path = workPath(instance.work_path ?? defaultWorkPath)
    workspaces.set(id, {
      id,
      snapshot,
      enabled: instance.enabled,
      instance,
      review: instance.review === undefined ? shared.review : review(instance.review),
      agent: { ...agent, sandbox },
      outputs:
        instance.outputs === undefined
          ? shared.outputs
          : resolve(OutputsConfig, given.outputs, defaults.outputs, instance.outputs),
      sandbox,
      prompt:
        instance.prompt === undefined ? shared.prompt : resolve(WorkspacePrompt, defaults.prompt, instance.prompt),
      triage: instance.triage === undefined ? shared.triage : resolve(Triage, defaults.triage, instance.triage),
      contextRepositories: (instance.context_repositories ?? defaults.context_repositories ?? []).map((repository) =>
        resolve(ContextRepository, repository)
      ),
      repositorySettings: instance.repository_settings ?? defaults.repository_settings ?? [],
      workPath: (trigger, source) => path({ workspace: id, trigger, source }),
      ...(anyGroups
        ? chains
        : { modelChain: undefined, triageModelChain: undefined, authorResolutionModelChain: undefined })
    })
  }
  return workspaces
}

/** Compiles each template once. */
const workPaths = (): ((template: string) => WorkPath) => {
  const compiled = new Map<string, WorkPath>()
  return (template) => {
    const known = compiled.get(template)
    if (known !== undefined) return known
    const path = Result.getOrElse(
      compileWorkPath(template),
      (problem): WorkPath =>
        () =>
          Result.fail(problem)
    )
    compiled.set(template, path)
    return path
  }
}

/**
 * Lint rules, and with them the import table of ARCHITECTURE.md: which folder may import what of which other folder.
 * `test/repository/Imports.test.ts` proves for every zone that a forbidden import is refused.
 *
 * How a zone becomes a rule: everything of the repository is refused, then `open` folders and, with `contracts`, the
 * contract files of the other folders are let through. Patterns are gitignore patterns over the import as written; a
 * regular expression with look-ahead would be ignored in silence.
 */
import { defineConfig } from "oxlint"
import type { OxlintOverride } from "oxlint"

/** The files of a folder that other folders may import: services and types, no adapter. */
export const contracts: Readonly<Record<string, ReadonlyArray<string>>> = {
  admin: ["AdminApi.ts", "AdminCredentials.ts", "DeliveryReplay.ts", "api/**"],
  agent: ["Agent.ts", "CodeSearch.ts", "RefusedResponse.ts", "SharedPrompt.ts"],
  chat: [
    "Authorise.ts",
    "CallbackOutcome.ts",
    "ChatApps.ts",
    "ChatClient.ts",
    "ChatClients.ts",
    "DailyPersons.ts",
    "ChatQuestions.ts",
    "ChatSession.ts",
    "ChatSessions.ts",
    "CheckChat.ts",
    "Command.ts",
    "Inbound.ts",
    "members/Directories.ts",
    "members/DirectoryApps.ts",
    "members/MatchMember.ts",
    "members/Member.ts",
    "members/MemberFiles.ts",
    "members/Memberships.ts",
    "PageLinks.ts",
    "ReadConnection.ts",
    "ReceiveMode.ts",
    "Reconnect.ts",
    "Repositories.ts",
    "StoreInbound.ts",
    "Texts.ts",
    "ThroughProxy.ts"
  ],
  config: [
    "Snapshot.ts",
    "AgentModelChain.ts",
    "ConfigStore.ts",
    "ConfigIssue.ts",
    "Credentials.ts",
    "Diff.ts",
    "Document.ts",
    "JsonSchema.ts",
    "LayeredFile.ts",
    "ListCredentials.ts",
    "LoadConfig.ts",
    "Matcher.ts",
    "Reference.ts",
    "Requirements.ts",
    "SealField.ts",
    "Show.ts",
    "Yaml.ts",
    "revisions/**",
    "schema/**"
  ],
  engine: [
    "threads/AnalysisError.ts",
    "threads/ChangeThreads.ts",
    "CiEvidence.ts",
    "ReviewChange.ts",
    "ReplayRun.ts",
    "ReviewOnRecord.ts",
    "ReviewRepository.ts",
    "Triage.ts",
    "eval/**"
  ],
  forge: [
    "Forge.ts",
    "ForgeError.ts",
    "HostWrite.ts",
    "DeliveryBody.ts",
    "Forges.ts",
    "OwnAccounts.ts",
    "Pacing.ts",
    "Webhooks.ts",
    "HostHealth.ts",
    "WriteOwner.ts",
    "WritePermits.ts",
    "ResponseTimeout.ts",
    "HostResponse.ts",
    "IssueHead.ts",
    "RulesRevision.ts",
    "ReadArtifacts.ts",
    "Access.ts",
    "CurrentProfile.ts",
    "LostCredential.ts",
    "swarm/Client.ts"
  ],
  llm: [
    "Budget.ts",
    "Evidence.ts",
    "Gateway.ts",
    "Limiter.ts",
    "ModelRun.ts",
    "ProviderPermits.ts",
    "RecordedGateway.ts",
    "ToolNames.ts",
    "RequestKey.ts",
    "WireGateway.ts",
    "wire/ProviderFormat.ts",
    "wire/WireFormats.ts",
    "wire/WireRow.ts",
    "catalog/Catalog.ts"
  ],
  observability: ["LimitedWarnings.ts", "Metrics.ts", "MetricsText.ts", "Progress.ts", "Redaction.ts"],
  outputs: [
    "AuthorGuess.ts",
    "ExpiryNotice.ts",
    "PlanNotices.ts",
    "SendNotice.ts",
    "Outputs.ts",
    "Records.ts",
    "Labels.ts",
    "Marker.ts",
    "SafeText.ts",
    "SampleRender.ts",
    "ExistingThreads.ts",
    "StatusEnd.ts"
  ],
  queue: [
    "AutomaticCommits.ts",
    "Enqueue.ts",
    "Queue.ts",
    "core/ExpiryCutoffs.ts",
    "core/HostOutage.ts",
    "UnreviewedHeads.ts",
    "core/Plan.ts",
    "dispatch/Cancellations.ts",
    "dispatch/NewerHeads.ts",
    "dispatch/Tickets.ts",
    "operator/Operations.ts",
    "operator/QueueControl.ts",
    "operator/TryAgain.ts"
  ],
  database: ["MakeFolder.ts", "RedisClient.ts", "RowLocks.ts", "StoreError.ts"],
  sandbox: ["Locations.ts", "Sandbox.ts", "SandboxLimits.ts"],
  store: [
    "AdminActions.ts",
    "AdminSessions.ts",
    "AgentPasses.ts",
    "AnalysisSpool.ts",
    "Cache.ts",
    "Heartbeats.ts",
    "LoginAttempts.ts",
    "Ledger.ts",
    "Lessons.ts",
    "ListReported.ts",
    "LogDecision.ts",
    "Notices.ts",
    "Objects.ts",
    "Payloads.ts",
    "PullBases.ts",
    "Receipts.ts",
    "RejectedSignatures.ts",
    "RunLogs.ts",
    "Runs.ts",
    "Outbox.ts",
    "Outcomes.ts",
    "Batches.ts",
    "ChatHealths.ts",
    "ChatOwners.ts",
    "ChatRequests.ts",
    "ChatSends.ts",
    "Schedules.ts",
    "Statistics.ts"
  ],
  vcs: [
    "Checkout.ts",
    "ConfiguredServer.ts",
    "ContextRepositories.ts",
    "LocalRepository.ts",
    "ProcessMark.ts",
    "ScratchRepository.ts",
    "SubmittedChanges.ts"
  ]
}

/** Every folder that holds code of ours. Wiring (src/app, demo) is in no zone: it may import everything. */
export const folders = [
  "actors",
  "admin",
  "admission",
  "agent",
  "app",
  "chat",
  "cli",
  "config",
  "dashboard",
  "database",
  "demo",
  "domain",
  "engine",
  "forge",
  "ingress",
  "llm",
  "nats",
  "observability",
  "outputs",
  "queue",
  "review",
  "sandbox",
  "store",
  "text",
  "vcs"
] as const
export type Folder = (typeof folders)[number]

export interface Zone {
  /** Folders the zone consists of. */
  readonly of: ReadonlyArray<Folder>
  /** Folders of which it may import any file, besides its own. */
  readonly open: ReadonlyArray<Folder>
  /** Whose contract files it may import. */
  readonly contracts: "all" | "admin" | "config" | "none"
  /** The only packages it may import; undefined leaves packages alone. */
  readonly packages?: ReadonlyArray<string>
}

/** Pure code computes: no files, no network, no clock, no service. Hashing is computing. */
const pure = ["effect", "node:crypto", "gpt-tokenizer"]

export const zones = {
  domain: { of: ["domain"], open: [], contracts: "none", packages: ["effect", "node:crypto"] },
  text: { of: ["text"], open: ["domain"], contracts: "none", packages: ["effect"] },
  nats: { of: ["nats"], open: [], contracts: "none", packages: ["effect", "@nats-io", "node:crypto", "node:fs"] },
  pure: { of: ["admission", "review"], open: ["domain"], contracts: "config", packages: pure },
  config: { of: ["config"], open: ["domain", "text"], contracts: "none" },
  engine: { of: ["engine"], open: ["domain", "text", "review"], contracts: "all" },
  adapters: {
    of: ["forge", "vcs", "llm", "agent", "outputs", "sandbox", "chat"],
    open: ["domain", "text"],
    contracts: "all"
  },
  stores: { of: ["queue", "store"], open: ["domain", "text", "database"], contracts: "all" },
  database: { of: ["database"], open: ["domain", "text"], contracts: "none" },
  actors: { of: ["actors"], open: ["domain", "admission", "review"], contracts: "all" },
  dashboard: { of: ["dashboard"], open: ["domain", "text"], contracts: "admin" },
  edges: { of: ["ingress", "admin", "cli"], open: ["domain", "text", "admission", "actors"], contracts: "all" },
  observability: { of: ["observability"], open: ["domain"], contracts: "none" }
} satisfies Record<string, Zone>

/** Packages that one folder owns; the rest of the service speaks to that folder. */
const owners: Readonly<Record<string, ReadonlyArray<string>>> = {
  llm: ["/ai", "@ai-sdk/*"],
  nats: ["@nats-io/*"],
  observability: ["pino", "pino-pretty"],
  sandbox: ["dockerode", "ws"]
}

/** The files of the other parts of the queue that each part may import. `core` is pure code. */
export const queueParts = {
  core: ["journal/Journal.ts", "operator/QueueControl.ts"],
  dispatch: [],
  journal: ["core/**", "operator/QueueControl.ts"],
  operator: ["core/**"]
} satisfies Record<string, ReadonlyArray<string>>

/** An actor may import those that stand after it, so that no cycle of messages can form. */
export const actorOrder = [
  "Housekeeping",
  "Schedules",
  "DepotRouting",
  "BatchKeeper",
  "ResumeWatch",
  "NoticeScan",
  "NoticeSender",
  "RefusedConfiguration",
  "ReviewExecutor",
  "ChatKeeper",
  "ChatConnection",
  "ChangePublisher",
  "WorkspaceScheduler",
  "WritePacer",
  "ProviderLimiter",
  "BudgetLedger"
]

interface Pattern {
  readonly group: ReadonlyArray<string>
  readonly message: string
}

/** Everywhere: start-up pays for what is loaded. */
const wholePackages = [
  {
    name: "@effect/platform-node",
    message: "it loads clients of Redis and of WebSocket, about 900 modules: name the file, @effect/platform-node/…"
  }
]

interface NamedImports {
  readonly name: string
  readonly importNames: Array<string>
  readonly message: string
}

const refuse = (
  files: string,
  patterns: ReadonlyArray<Pattern>,
  named: ReadonlyArray<NamedImports> = []
): OxlintOverride => ({
  files: [files],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        paths: [...wholePackages, ...named],
        patterns: patterns.map(({ group, message }) => ({ group: [...group], message }))
      }
    ]
  }
})

const contractsOf = (zone: Zone): ReadonlyArray<string> =>
  (zone.contracts === "none" ? [] : Object.entries(contracts))
    .filter(([folder]) => zone.contracts === "all" || folder === zone.contracts)
    .flatMap(([folder, files]) => files.map((file) => `!**/${folder}/${file}`))

/** Own files first to be refused, then let through: of patterns that match, the last one counts. */
const ownFiles = (zone: Zone, folder: Folder): ReadonlyArray<string> => [
  ...folders.filter((name) => name !== folder && !zone.open.includes(name)).map((name) => `**/${name}/**`),
  "**/main.mjs",
  "**/Actors.ts",
  ...contractsOf(zone)
]

/** One group for packages and own files where packages are listed: a pattern that lets through does so for all groups. */
const zonePatterns = (zone: Zone, folder: Folder): ReadonlyArray<Pattern> =>
  zone.packages === undefined
    ? [
        {
          group: ownFiles(zone, folder),
          message: `not for ${folder}: the import table stands in ARCHITECTURE.md, the contracts in oxlint.config.ts`
        },
        {
          group: Object.entries(owners).flatMap(([owner, names]) => (owner === folder ? [] : names)),
          message: "this package belongs to one folder: use that folder's contract"
        }
      ]
    : [
        {
          group: [
            "*",
            ...["./**", "../**", ...zone.packages.flatMap((name) => [name, `${name}/**`])].map((name) => `!${name}`),
            ...ownFiles(zone, folder)
          ],
          message: `not for ${folder}: its packages are ${zone.packages.join(", ")}; its folders are listed in ARCHITECTURE.md`
        }
      ]

/** Zones whose code gets time, chance and settings from its caller. */
export const pureFolders = ["domain", "admission", "review"] as const

/** Files of pure folders that compute with dates: their Date gets the time from the caller. */
const calendars = ["src/admission/CronTimes.ts", "src/admission/Windows.ts", "src/domain/RetryAfter.ts"]

const fromCaller = "pure code gets time, chance and settings from its caller"
const restricted = (name: string) => ({ name, message: fromCaller })
const restrictedProperty = (object: string, property: string) => ({ object, property, message: fromCaller })

const impureGlobals = ["process", "performance", "crypto", "fetch", "setTimeout", "setInterval", "setImmediate"]
const impureProperties = [
  restrictedProperty("Date", "now"),
  restrictedProperty("Math", "random"),
  restrictedProperty("DateTime", "now"),
  restrictedProperty("DateTime", "nowUnsafe"),
  restrictedProperty("Effect", "clockWith")
]
const impureImports = [
  { name: "effect", importNames: ["Clock", "Config", "Random"], message: fromCaller },
  {
    name: "node:crypto",
    importNames: ["randomBytes", "randomFillSync", "randomInt", "randomUUID", "webcrypto"],
    message: fromCaller
  }
]

const pureOverrides: ReadonlyArray<OxlintOverride> = [
  {
    files: [...pureFolders, "queue/core"].map((folder) => `src/${folder}/**`),
    rules: {
      "no-restricted-globals": ["error", ...[...impureGlobals, "Date"].map(restricted)],
      "no-restricted-properties": ["error", ...impureProperties]
    }
  },
  { files: calendars, rules: { "no-restricted-globals": ["error", ...impureGlobals.map(restricted)] } },
  // Ids are made of the time and of chance, and are nothing without them.
  {
    files: ["src/domain/Ids.ts"],
    rules: { "no-restricted-globals": "off", "no-restricted-properties": "off", "no-restricted-imports": "off" }
  }
]

const overridesOf = (zone: Zone): ReadonlyArray<OxlintOverride> =>
  zone.of.map((folder) =>
    refuse(
      folder === "actors" || folder === "nats" ? `${folder}/**` : `src/${folder}/**`,
      zonePatterns(zone, folder),
      pureFolders.some((name) => name === folder) ? impureImports : []
    )
  )

/** Adapters over NATS are named for it, and only they know the bus. */
const natsAdapters = [zones.adapters, zones.stores, zones.config, zones.edges, zones.observability].flatMap((zone) =>
  zone.of.map((folder) =>
    refuse(`src/${folder}/**/Nats*.ts`, zonePatterns({ ...zone, open: [...zone.open, "nats"] }, folder))
  )
)

/** Parts of the queue, and the adapters over NATS among their files. */
const partsOfQueue = Object.entries(queueParts).flatMap(([part, files]) => {
  const others = Object.keys(queueParts).filter((other) => other !== part)
  const own = [...others.map((other) => `**/${other}/**`), ...files.map((file) => `!**/${file}`)]
  const patternsOf = (zone: Zone): ReadonlyArray<Pattern> => [
    {
      group: [...ownFiles(zone, "queue"), ...own],
      message: `not for queue/${part}: what it may import is in oxlint.config.ts (queueParts)`
    },
    ...zonePatterns(zone, "queue").slice(1)
  ]
  return [
    refuse(`src/queue/${part}/**`, patternsOf(zones.stores), part === "core" ? impureImports : []),
    refuse(`src/queue/${part}/Nats*.ts`, patternsOf({ ...zones.stores, open: [...zones.stores.open, "nats"] }))
  ]
})

const actors = actorOrder.map((actor, index) =>
  refuse(`actors/${actor}.ts`, [
    ...zonePatterns(zones.actors, "actors"),
    {
      group: ["**/Actors.ts", ...actorOrder.slice(0, index).map((name) => `**/${name}.ts`)],
      message: `${actor} may not import an actor that stands before it in oxlint.config.ts`
    }
  ])
)

/** A function fits on a screen. Blank lines and comments count: they take room there as well. */
const maxFunctionLines = { max: 80, skipBlankLines: false, skipComments: false, IIFEs: true }

export default defineConfig({
  plugins: ["eslint", "typescript", "unicorn", "oxc", "import", "vitest", "react", "jsx-a11y"],
  categories: { correctness: "error", suspicious: "error" },
  ignorePatterns: ["demo/change/**"],
  rules: {
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "typescript/no-explicit-any": "error",
    "typescript/ban-ts-comment": "error",
    "no-console": "error",
    "no-restricted-imports": ["error", { paths: wholePackages }],
    // `_tag` is how Effect names the cases of a union.
    "no-underscore-dangle": "off",
    // A helper may stand where it is used: in a generator, in a test group.
    "unicorn/consistent-function-scoping": "off",
    // It does not know `it.effect`.
    "vitest/no-standalone-expect": "off"
  },
  overrides: [
    ...Object.values(zones).flatMap(overridesOf),
    ...natsAdapters,
    ...partsOfQueue,
    ...actors,
    ...pureOverrides,
    { files: ["actors/**", "nats/**", "src/**"], rules: { "max-lines-per-function": ["error", maxFunctionLines] } },
    {
      files: [".ci/**", "src/cli/**", "demo/**", "test/bench/**", "test/mutate/**", "scripts/**"],
      rules: { "no-console": "off" }
    },
    {
      files: ["src/dashboard/**"],
      rules: {
        // The compiler imports React for JSX.
        "react/react-in-jsx-scope": "off",
        // Roles of virtual lists, palettes and groups have no element of their own that fits.
        "jsx-a11y/prefer-tag-over-role": "off",
        "jsx-a11y/no-noninteractive-element-to-interactive-role": "off",
        // Styles are imported for their effect.
        "import/no-unassigned-import": "off",
        // A channel has no target origin.
        "unicorn/require-post-message-target-origin": "off",
        "react/incompatible-library": "off"
      }
    },
    {
      files: ["test/**"],
      rules: { "no-restricted-properties": ["error", { property: "only" }, { property: "skip" }] }
    }
  ]
})

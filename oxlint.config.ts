/**
 * Lint rules, and with them the import table of ARCHITECTURE.md: which folder may import what of which other folder.
 * `test/repository/Imports.test.ts` proves for every zone that a forbidden import is refused.
 *
 * How a zone becomes a rule: every import that leaves its folder is refused, then `open` folders and, with `contracts`,
 * the contracts of the other folders are let through. Patterns are gitignore patterns over the import as written, so
 * that files of each depth have a rule of their own; a regular expression with look-ahead would be ignored in silence.
 */
import { defineConfig } from "oxlint"
import type { OxlintOverride } from "oxlint"

/**
 * Folders with contracts, which other folders may import: the files directly in the folder. What lies in its rooms is its own.
 * `*Layer.ts` has its adapters as a layer, for the wiring alone.
 */
export const contracts = [
  "admin",
  "agent",
  "chat",
  "config",
  "database",
  "engine",
  "forge",
  "llm",
  "network",
  "observability",
  "outputs",
  "queue",
  "sandbox",
  "store",
  "vcs"
] as const

/** Rooms that are contracts as a whole. */
export const openRooms = [
  "admin/api",
  "chat/members",
  "config/revisions",
  "config/schema",
  "forge/swarm",
  "queue/dispatch",
  "queue/operator"
]

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
  "eval",
  "forge",
  "ingress",
  "llm",
  "nats",
  "network",
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

/** Folders beside `src`. */
const roots: ReadonlyArray<Folder> = ["actors", "demo", "eval", "nats"]

/** The path of a folder in the repository. */
export const pathOf = (folder: Folder): string => (roots.includes(folder) ? folder : `src/${folder}`)

/** How many folders deep rooms are: files directly in a folder, in a room, and in a room of a room. */
export const depths = [0, 1, 2] as const
type Depth = (typeof depths)[number]

/** The files of a folder at a depth. */
const filesOf = (folder: Folder, depth: Depth, name = "*"): string => `${pathOf(folder)}/${"*/".repeat(depth)}${name}`

/** What an import of `target` begins with, in a file of `folder` at a depth. */
const importOf = (folder: Folder, depth: Depth, target: Folder): string => {
  const up = "../".repeat(depth + 1)
  if (roots.includes(folder)) return up + pathOf(target)
  return roots.includes(target) ? `../${up}${target}` : up + target
}

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
  eval: { of: ["eval"], open: ["domain", "review"], contracts: "all" },
  adapters: {
    of: ["forge", "vcs", "llm", "agent", "outputs", "sandbox", "chat"],
    open: ["domain", "text"],
    contracts: "all"
  },
  stores: { of: ["queue", "store"], open: ["domain", "text", "database"], contracts: "all" },
  database: { of: ["database"], open: ["domain", "text"], contracts: "none" },
  actors: { of: ["actors"], open: ["domain", "admission", "review"], contracts: "all" },
  dashboard: { of: ["dashboard"], open: ["domain", "text"], contracts: "admin" },
  edges: { of: ["ingress", "admin"], open: ["domain", "text", "admission", "actors"], contracts: "all" },
  cli: { of: ["cli"], open: ["domain", "text", "actors", "eval"], contracts: "all" },
  network: { of: ["network"], open: [], contracts: "none", packages: ["undici"] },
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
  "upkeep/Housekeeping",
  "scheduling/Schedules",
  "depots/DepotRouting",
  "scheduling/BatchKeeper",
  "scheduling/ResumeWatch",
  "notices/NoticeScan",
  "notices/NoticeSender",
  "notices/RefusedConfiguration",
  "conversation/SwarmComments",
  "review/ReviewExecutor",
  "outcomes/OutcomeSettler",
  "chat/ChatKeeper",
  "chat/ChatConnection",
  "publishing/ChangePublisher",
  "scheduling/WorkspaceScheduler",
  "limits/WritePacer",
  "limits/ProviderLimiter"
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

const contractsOf = (zone: Zone, folder: Folder, depth: Depth): ReadonlyArray<string> =>
  contracts
    .filter((name) => zone.contracts === "all" || name === zone.contracts)
    .map((name) => importOf(folder, depth, name))
    .flatMap((path) => [`!${path}/*.ts`, `${path}/*Layer.ts`])

const openRoomsOf = (zone: Zone, folder: Folder, depth: Depth): ReadonlyArray<string> =>
  contracts
    .filter((name) => zone.contracts === "all" || name === zone.contracts)
    .flatMap((name) => openRooms.filter((room) => room.startsWith(`${name}/`)).map((room) => [name, room] as const))
    .map(([name, room]) => `!${importOf(folder, depth, name)}${room.slice(name.length)}/**`)

/** Everything outside of the folder is refused, then let through: of patterns that match, the last one counts. */
const outside = (zone: Zone, folder: Folder, depth: Depth): ReadonlyArray<string> => [
  `${"../".repeat(depth + 1)}*/**`,
  "**/main.mjs",
  "!**/package.json",
  ...zone.open.map((name) => `!${importOf(folder, depth, name)}/**`),
  ...contractsOf(zone, folder, depth),
  ...openRoomsOf(zone, folder, depth),
  ...(folder === "actors" ? [] : ["**/actors/Actors.ts"])
]

/** One group for packages and own files where packages are listed: a pattern that lets through does so for all groups. */
const zonePatterns = (zone: Zone, folder: Folder, depth: Depth): ReadonlyArray<Pattern> =>
  zone.packages === undefined
    ? [
        {
          group: outside(zone, folder, depth),
          message: `not for ${folder}: ARCHITECTURE.md has the import table, and says which files of a folder are contracts`
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
            ...outside(zone, folder, depth)
          ],
          message: `not for ${folder}: its packages are ${zone.packages.join(", ")}; its folders are listed in ARCHITECTURE.md`
        }
      ]

/** Zones whose code gets time, chance and settings from its caller. */
export const pureFolders = ["domain", "admission", "review"] as const

/** Files of pure folders that compute with dates: their Date gets the time from the caller. */
const calendars = ["src/admission/CronTimes.ts", "src/admission/Windows.ts", "src/domain/RetryAfter.ts"]

/** Pure files of the queue that other folders import. */
export const purePlans = ["src/queue/ExpiryCutoffs.ts", "src/queue/HostOutage.ts", "src/queue/Plan.ts"]

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
    files: [...[...pureFolders, "queue/core"].map((folder) => `src/${folder}/**`), ...purePlans],
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
  zone.of.flatMap((folder) =>
    depths.map((depth) =>
      refuse(
        filesOf(folder, depth),
        zonePatterns(zone, folder, depth),
        pureFolders.some((name) => name === folder) ? impureImports : []
      )
    )
  )

/** Adapters over NATS are named for it, and only they know the bus. */
const natsAdapters = [zones.adapters, zones.stores, zones.config, zones.edges, zones.observability].flatMap((zone) =>
  zone.of.flatMap((folder) =>
    depths.map((depth) =>
      refuse(filesOf(folder, depth, "Nats*.ts"), zonePatterns({ ...zone, open: [...zone.open, "nats"] }, folder, depth))
    )
  )
)

/** Parts of the queue, and the adapters over NATS among their files. */
const partsOfQueue = Object.entries(queueParts).flatMap(([part, files]) => {
  const others = Object.keys(queueParts).filter((other) => other !== part)
  const own = [...others.map((other) => `../${other}/**`), ...files.map((file) => `!../${file}`)]
  const patternsOf = (zone: Zone): ReadonlyArray<Pattern> => [
    {
      group: [...outside(zone, "queue", 1), ...own],
      message: `not for queue/${part}: what it may import is in oxlint.config.ts (queueParts)`
    },
    ...zonePatterns(zone, "queue", 1).slice(1)
  ]
  return [
    refuse(`src/queue/${part}/*`, patternsOf(zones.stores), part === "core" ? impureImports : []),
    refuse(`src/queue/${part}/Nats*.ts`, patternsOf({ ...zones.stores, open: [...zones.stores.open, "nats"] }))
  ]
})

const actors = actorOrder.map((actor, index) => {
  const [room = ""] = actor.split("/")
  const earlier = actorOrder.slice(0, index).map((name) => `../${name}.ts`)
  return refuse(`actors/${actor}.ts`, [
    ...zonePatterns(zones.actors, "actors", 1),
    {
      group: [
        "**/Actors.ts",
        ...earlier,
        ...earlier.filter((name) => name.startsWith(`../${room}/`)).map((name) => name.replace(`../${room}/`, "./"))
      ],
      message: `${actor} may not import an actor that stands before it in oxlint.config.ts`
    }
  ])
})

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
    {
      files: ["actors/**", "demo/**", "eval/**", "nats/**", "src/**"],
      rules: { "max-lines-per-function": ["error", maxFunctionLines] }
    },
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

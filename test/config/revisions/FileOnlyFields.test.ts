/**
 * Classifies every field that the database may contain: it decides where a credential goes (`destination`), only the file may set it
 * (`fileOnly`), or it is harmless. A new field of text or a switch fails here until it is classified.
 */
import { Redacted, Result } from "effect"
import { describe, expect, it } from "vitest"
import type { FieldMeta } from "../../../src/config/fields/Field.ts"
import { parseFile, readLayered, readRevision } from "../../../src/config/LayeredFile.ts"
import type { Path } from "../../../src/config/document/Path.ts"
import { formatPath, valueAt, withValueAt } from "../../../src/config/document/Path.ts"
import { sealingKeys } from "../../../src/config/credentials/Sealing.ts"
import { sealMarked } from "../../../src/config/revisions/CredentialOrigins.ts"
import { makeDestinationAt } from "../../../src/config/revisions/Destinations.ts"
import { parseDocument } from "../../../src/config/revisions/DatabaseDocument.ts"
import type { DatabaseDocument } from "../../../src/config/revisions/DatabaseDocument.ts"
import { entityKinds, entityLocations, entityShape, globalsShape } from "../../../src/config/revisions/Entities.ts"
import { fileOnlyProblems } from "../../../src/config/revisions/FileOnlyFields.ts"
import { overlay } from "../../../src/config/revisions/Overlay.ts"
import { serialise } from "../../../src/config/revisions/SealDocument.ts"
import type { Shape } from "../../../src/config/fields/Shape.ts"
import { sealingKey } from "../../harness/ConfigSource.ts"
import { harmless } from "./HarmlessFields.ts"
import { formatIssue } from "../../../src/config/ConfigIssue.ts"
import { inEnglish } from "../../../src/text/en.ts"

interface Leaf {
  /** Path with 0 for positions and `x` for free keys. */
  readonly path: Path
  readonly shape: Shape
  readonly meta: FieldMeta | undefined
  /** Names of the credentials of the same map. */
  readonly secrets: ReadonlyArray<string>
}

const leaves = (shape: Shape, at: Omit<Leaf, "shape">): ReadonlyArray<Leaf> => {
  switch (shape.type) {
    case "union":
      return shape.members.flatMap((member) => leaves(member, at))
    case "list":
      return leaves(shape.item, { ...at, path: [...at.path, 0] })
    case "object": {
      const fields = [...shape.fields.values()]
      const secrets = fields.flatMap((field) =>
        field.shape.type === "scalar" && field.shape.scalar === "secret" ? [field.name] : []
      )
      return [
        ...fields.flatMap(({ meta, name, shape: inner }) => leaves(inner, { path: [...at.path, name], meta, secrets })),
        ...(shape.rest === undefined ? [] : leaves(shape.rest, { ...at, path: [...at.path, "x"] }))
      ]
    }
    default:
      return [{ ...at, shape }]
  }
}

const start = { meta: undefined, secrets: [] }
const all: ReadonlyArray<Leaf> = [
  ...entityKinds.flatMap((kind) => leaves(entityShape(kind), { ...start, path: ["entities", kind, "x"] })),
  ...leaves(globalsShape(), { ...start, path: ["globals"] })
]

/** Numbers and closed sets of words name nothing; credentials and names of variables are granted one by one. */
const mayName = ({ shape }: Leaf): boolean =>
  shape.type === "scalar" && shape.limits.env !== true && ["string", "boolean", "any"].includes(shape.scalar)

/** Name of a field with that of its map, which is the same in every layer. */
const nameOf = ({ path }: Leaf): string =>
  path
    .filter((part) => part !== 0 && part !== "entities")
    .filter((part, index) => !(part === "x" && index === 1))
    .slice(path.at(-1) === "x" ? -3 : -2)
    .join(".")

const isClassified = ({ meta }: Leaf): boolean => meta?.destination === true || meta?.fileOnly !== undefined

const samples: Readonly<Record<string, unknown>> = {
  repository_url: "svn+ssh://host/repository",
  google_application_credentials: "/etc/key.json",
  unconfined: true
}

/** Converts a path of the database's document to one of the document that it makes alone. */
const inCombined = (path: Path): Path => {
  const [top, kind, name, ...field] = path
  const known = entityKinds.find((one) => one === kind)
  if (top === "globals" || known === undefined) return path.slice(1)
  const { at, form } = entityLocations[known]
  return [...at, form === "map" ? (name ?? "") : 0, ...field]
}

/** Makes a document with one value. */
const withValue = (path: Path, value: unknown): unknown => withValueAt({}, path, value)

const plainText = (secret: Redacted.Redacted<unknown>): string => String(Redacted.value(secret))

const parsed = (tree: unknown): DatabaseDocument =>
  parseDocument(tree, ({ path, reason }) => {
    throw new Error(`${formatPath(path)}: ${inEnglish(reason)}`)
  })

describe("a field of the database's configuration", () => {
  it("is classified: destination, only in the file, or harmless", () => {
    const names = new Set(all.filter((leaf) => mayName(leaf) && !isClassified(leaf)).map(nameOf))
    expect([...names].filter((name) => !harmless.has(name)).toSorted()).toEqual([])
    expect([...harmless].filter((name) => !names.has(name)).toSorted()).toEqual([])
  })

  const fileOnly = all.filter(({ meta }) => meta?.fileOnly !== undefined)
  it.each(fileOnly.map((leaf) => [formatPath(leaf.path), leaf] as const))(
    "is refused and not activated: %s",
    (_title, { path, shape }) => {
      const name = path.findLast((part) => typeof part === "string" && part !== "x") ?? ""
      const document = parsed(withValue(path, samples[name] ?? "x"))
      const [problem, ...more] = fileOnlyProblems(document, {}, plainText)
      expect([problem?.code, more]).toEqual(["owned_by_file", []])
      const env = { SVC_CONFIG_SECRETS_KEY: sealingKey }
      const file = parseFile("{}", "/etc/aicr/config.yaml", env)
      const sealed = sealMarked(document, { find: () => undefined }, "default", sealingKeys(env))
      const { text, hash } = serialise(Result.getOrThrow(sealed))
      expect(text.includes("enc:v1.")).toBe(shape.type === "scalar" && shape.scalar === "secret")
      const layer = readRevision({ number: 1, hash, document: text })
      if (layer._tag === "Failure") throw new Error(layer.failure.map(formatIssue).join("\n"))
      const { issues, snapshot } = readLayered(file, layer.success, {})
      expect(snapshot).toBeUndefined()
      expect(issues.map(({ reason }) => inEnglish(reason))).toContainEqual(expect.stringContaining("(owned_by_file)"))
    }
  )

  it("is accepted where it names nothing of the nodes", () => {
    for (const [path, value] of [
      [["entities", "triggers", "x", "repository_url"], "https://svn.example/repository"],
      [["entities", "triggers", "x", "repository_url"], "svn://svn.example/repository"],
      [["entities", "providers", "x", "google_application_credentials"], '{"type": "service_account"}'],
      [["globals", "agent", "sandbox", "native", "unconfined"], false],
      [["entities", "templates", "image"], "text"]
    ] as const)
      expect(fileOnlyProblems(parsed(withValue(path, value)), {}, plainText)).toEqual([])
  })

  it("is permitted where the file hides it, which is the way out for a revision of an earlier release", () => {
    const image = ["agent", "sandbox", "image"]
    const repositories = ["workspaces", "defaults", "context_repositories"]
    const depot = [...repositories, 0, "repository_url"]
    const cases: ReadonlyArray<readonly [database: Path, file: unknown, problems: number]> = [
      [["globals", ...image], withValue(image, "own"), 0],
      [["globals", ...image], withValue(["agent", "sandbox", "engine"], "podman"), 1],
      [["globals", ...depot], withValueAt({}, repositories, []), 0],
      [["entities", "triggers", "x", "tls_ca_path"], { triggers: [{ name: "x" }] }, 0],
      [["entities", "triggers", "x", "tls_ca_path"], { triggers: [{ name: "y" }] }, 1]
    ]
    for (const [path, file, problems] of cases)
      expect(fileOnlyProblems(parsed(withValue(path, "file:///srv/x")), file, plainText)).toHaveLength(problems)
  })

  const destinations = all.filter(({ meta, secrets }) => meta?.destination === true && secrets.length > 0)
  it.each(destinations.map((leaf) => [formatPath(leaf.path), leaf] as const))(
    "changes the destination of the credentials next to it: %s",
    (_title, { path, secrets, shape }) => {
      const holder = path.slice(0, path.at(-1) === "x" ? -2 : -1)
      const secret = [...holder, secrets[0] ?? ""]
      const before = withValue(secret, "s")
      const value = shape.type === "scalar" && shape.scalar === "boolean" ? true : "https://other.example"
      const [left, right] = [before, withValueAt(before, path, value)].map((one) => overlay({}, parsed(one)).tree)
      const at = inCombined(secret)
      expect(valueAt(left, at)).toBeDefined()
      expect(makeDestinationAt(right)(at)).not.toEqual(makeDestinationAt(left)(at))
    }
  )
  it("is part of a destination for every kind of holder", () => {
    const names = new Set(destinations.map(nameOf))
    for (const name of ["providers.extra_headers.x", "triggers.p4_fingerprint", "context_repositories.port"])
      expect(names).toContain(name)
  })
})

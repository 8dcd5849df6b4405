/**
 * The statement of a verdict, in the form of in-toto: what was reviewed with which inputs, what was read, found, refuted and withdrawn, and
 * the outcome. It is signed (SignedStatement.ts) and can be verified without the service.
 */
import { Schema } from "effect"
import { CarriedReview, RuleDigest } from "./Analysis.ts"
import { FramedFile, SkippedFile, Unusable } from "./Coverage.ts"
import { Severity, TargetKind } from "./Kinds.ts"
import { StatusState } from "./Publication.ts"

const Sha256 = Schema.Struct({ sha256: Schema.String })

/** A finding without its text: `id` is the fingerprint by which the service names it everywhere. */
const StatedFinding = Schema.Struct({
  id: Schema.String,
  severity: Severity,
  category: Schema.String,
  file: Schema.String,
  /** Last line of its code; absent without an anchor. */
  line: Schema.optional(Schema.Int),
  /** First line, if it has several. */
  start: Schema.optional(Schema.Int),
  side: Schema.optional(Schema.Literals(["new", "old"])),
  title: Schema.optional(Schema.String)
})
export type StatedFinding = typeof StatedFinding.Type

/** Models that responded, as `provider/model`, sorted. */
const Models = Schema.Struct({ ...Sha256.fields, names: Schema.Array(Schema.String) })

/** An earlier review that read files of the change. `statement`: digest of its own statement. */
const StatedReader = Schema.Struct({
  ...CarriedReview.fields,
  configuration: Sha256,
  models: Models,
  statement: Schema.optional(Sha256)
})
export type StatedReader = typeof StatedReader.Type

const StatedMember = Schema.Struct({
  number: Schema.Int,
  /** The commit that was merged, where the group has a merge of it. */
  head: Schema.optional(Schema.String),
  run: Schema.optional(Schema.String),
  outcome: Schema.Literals([...StatusState.literals, "unreviewed"])
})

export const statementType = "https://in-toto.io/Statement/v1"
export const predicateType = "urn:aicr:verdict:v1"

export const VerdictStatement = Schema.Struct({
  _type: Schema.Literal(statementType),
  /** The head: `gitCommit`, or `revision` of Subversion and Perforce. */
  subject: Schema.Tuple([Schema.Struct({ name: Schema.String, digest: Schema.Record(Schema.String, Schema.String) })]),
  predicateType: Schema.Literal(predicateType),
  predicate: Schema.Struct({
    /** Time of the verdict, in ISO 8601. */
    time: Schema.String,
    run: Schema.String,
    workspace: Schema.String,
    /** Name of the trigger of the host. */
    trigger: Schema.String,
    repository: Schema.String,
    target: Schema.Struct({
      kind: TargetKind,
      number: Schema.optional(Schema.Int),
      branch: Schema.optional(Schema.String)
    }),
    head: Schema.String,
    base: Schema.optional(Schema.String),
    /** The branch that the change is merged into. Absent for changes that are not merged. */
    baseRef: Schema.optional(Schema.String),
    /** Commit that the head was compared with. */
    mergeBase: Schema.String,
    /** `success` is the only outcome that passes. `neutral`: too little was read for a verdict. */
    outcome: StatusState,
    /** The review was not published (`outputs.shadow`). */
    shadow: Schema.optional(Schema.Literal(true)),
    inputs: Schema.Struct({
      configuration: Sha256,
      prompts: Sha256,
      models: Models,
      rules: Schema.Struct({ ...Sha256.fields, files: Schema.Array(RuleDigest) })
    }),
    /** Reviews that read the files which this one did not read again, because their patches are the same. Absent if it read all. */
    carried: Schema.optional(Schema.Array(StatedReader)),
    /** Pull requests of a merge group, each with its own verdict: `unreviewed` if only the review of the group read it. */
    members: Schema.optional(Schema.Array(StatedMember)),
    coverage: Schema.Struct({
      /** Changed lines that were read, and those that were to be read. */
      lines: Schema.Int,
      changed: Schema.Int,
      reviewed: Schema.Array(Schema.String),
      skipped: Schema.Array(SkippedFile),
      /** Number of files that were read without what the author writes, and those that were to be read so and were not. Absent without any. */
      blind: Schema.optional(Schema.Int),
      notBlind: Schema.optional(Schema.Array(FramedFile)),
      unusable: Schema.optional(Schema.Array(Unusable)),
      /** Numbers of files that are not named, because there are too many. */
      unnamed: Schema.optional(Schema.Struct({ reviewed: Schema.Int, skipped: Schema.Int, unread: Schema.Int }))
    }),
    /** Problems that count. */
    findings: Schema.Array(StatedFinding),
    /** Problems of kinds that people rarely accept: they do not count. Absent without any. */
    folded: Schema.optional(Schema.Array(StatedFinding)),
    /** SHA-256 of `salt:id` of each problem that only maintainers got, sorted. They count. Absent without any. */
    private: Schema.optional(Schema.Array(Sha256)),
    /** The same of those that a maintainer dismissed: they do not count. Absent without any. */
    privateWithdrawn: Schema.optional(Schema.Array(Sha256)),
    /** The same of those that verification refuted. Absent without any. */
    privateRefuted: Schema.optional(Schema.Array(Sha256)),
    /** Problems that verification refuted: they were not published. */
    refuted: Schema.Array(StatedFinding),
    /** Problems that people dismissed, or that an objection withdrew: they do not count. */
    withdrawn: Schema.Array(StatedFinding)
  })
})
export type VerdictStatement = typeof VerdictStatement.Type

/** Reasons for which an edit of the configuration is refused. */
import type { editReasons } from "../../domain/reasons/Edit.ts"

export const editTexts = {
  OwnedByFile: "{entity} is defined in the configuration file ({place}); edit it there",
  FieldOfFile: "{path} is set in the configuration file; edit it there",
  FileOnly:
    "this can only be set in the configuration file, because it {why}; remove it here, or move the entity into the file",
  EntityUnknown: "{entity} does not exist in the database configuration; create it first",
  EntityExists: "{entity} exists; update it, or choose another name",
  NameExists: "{entity} exists",
  NameNotAllowed: "{name} is not allowed as a name",
  NameInvisible:
    "the name has a control or invisible character, or begins or ends with white space; choose another name",
  NoValue: "the value is missing",
  NameDiffers: "{field} differs from the entity's name; rename the entity instead",
  NameByRename: "{field} is the entity's name; rename the entity instead",
  MaskIsNoValue:
    "the mask of a credential is not a value; omit the field to keep the credential, or send null to clear it",
  CredentialIsText: "a credential is text",
  PathUnfit: "the path has no such field; correct it",
  WholeValue: "the value",
  WholeDocument: "the document",
  NoSuchField: "{place} has no field {name}[[; did you mean {suggestion}?]]",
  NoSuchElement: "{place} has no element {name}",
  HasNoFields: "{place} has no fields[[, so {name} cannot be set in it]]",
  KeyOfDocument: "unknown key {key} (allowed here: globals, entities)",
  KindUnknown: "unknown kind {kind} (kinds: {kinds})",
  NamesExpected: "expected a map from name to value",
  DocumentTextEmpty: "the document has no entities; write {sample} to remove all of them",
  AtLine: "line {line}: {reason}",
  DocumentIsNoJson: "the stored document is not JSON; restore the database from a backup",
  StoredTooLarge: "the database configuration would have {bytes} bytes; at most {limit} are stored",
  MoreProblems: "{count} more problems are not listed; correct the listed ones and validate again",
  TemplateRefused: "{why}; the built-in template would be used",
  TitleLength: "title has {count} characters; 1 to {limit} are allowed",
  ReasonLength: "reason has {count} characters; at most {limit} are allowed",
  OperationIdLength: "operation_id has {count} characters; 1 to {limit} are allowed",
  TooManyOperations: "the edit has {count} operations; at most {limit} are stored",
  OperationsTooLarge: "the operations have {bytes} bytes; at most {limit} are stored",
  OperationIdReused: "the operation id {id} belongs to another request; choose a new one",
  OperationIdUncomparable:
    "the operation id {id} has a result, and this node lacks the key to compare the credentials of its request; read that result, or choose a new id",
  OperationOfReseal: "the id belongs to a resealing; choose a new one",
  Contended: "others published at the same time, again and again; repeat the request",
  StartContended: "others started the same at the same time; repeat the request",
  RevisionMissing: "revision {number} does not exist, or not any more; read the newest revision",
  BaseMissing:
    "revision {number}, for which the edit was made, does not exist any more; begin with the newest revision",
  RevisionRemoved: "revision {number} was removed by now",
  RevisionOfOperationRemoved: "revision {number} of this operation was removed by now",
  RevisionsLost:
    "the newest revision of the database is {head}, but this node works with revision {active}: the database has lost revisions; restore it from a backup, or restart every node to use revision {head}",
  NewerRelease: "revision {number} was written by a newer release: {why}; edit it with that release",
  OthersChanged: "a field of this edit was changed by others",
  DatabaseDisabled: "config_sources.database.enabled is false in the file of this node",
  NoDatabaseHere: "this process has no database configuration",
  DatabaseUnreadable: "the configuration of the database cannot be read: {why}",
  DraftMissing: "draft {draft} does not exist; list the drafts",
  DraftVersion: "the draft has version {version}, not {expected}; read it again",
  TooManyDrafts: "there are {count} drafts; delete one first",
  DraftsTooLarge: "the drafts have over {bytes} bytes together; delete one first",
  OwnDraft: "who wrote a part of a draft cannot approve it; another administrator can",
  ReasonNeeded: "publishing without approvals needs a reason",
  ApprovalsNeeded:
    "{required} approvals are required (config_sources.database.approvals) and there are {approvals}; save a draft and have it approved",
  DestinationChanged: "{path} would be sent to another destination; enter the credential again",
  DestinationUnknown: "the destination of a credential in the draft is unknown; enter it again",
  VariableNotGranted: "the database may not use the environment variable of {path} here; {advice}",
  GrantInFile: "grant it in the file: config_sources.secret_refs: {grant}",
  SetItsTrigger:
    "this channel serves {count} triggers; set its trigger, then grant the variable for it in the file (config_sources.secret_refs)",
  GrantUnused: "grants {variable} to {place}, which does not use it; remove the grant, or publish what it is for",
  GrantElsewhere:
    "grants {variable} to {place} for another destination than {destination}; correct its destinations, or remove it",
  HidesEntity: "hides {entity} of the database, which has no effect; delete one of them",
  HidesValue: "hides the value of the database, which has no effect; remove one of them",
  WithCode: "{reason} ({code})"
} as const satisfies Record<keyof typeof editReasons, string>

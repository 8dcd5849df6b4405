/** Reasons for which a repository, a revision or a change cannot be read. */
import type { checkoutReasons } from "../../domain/reasons/Checkout.ts"

export const checkoutTexts = {
  ProgramFailed: "{command}: {why}[[; {advice}]]",
  NoMessage: "failed without a message",
  EndedEarly: "it ended early",
  UnknownTrees: "unknown trees",
  UnreadableReply: "{command}: unreadable reply ({why})",
  ProgramSlow:
    '{command} took over {seconds} s[[ (time limit "{limit}"); the repository or the disk is too slow for a review]]',
  ProgramPrintsTooMuch: "{command} printed over {bytes} bytes",
  ProgramOverMemory:
    "{command} needs over {megabytes} MiB of memory ({=workspaces.limits.git_memory_mb}); raise the limit for repositories that need it",
  ProgramsOverMemory:
    "{command} was the largest of the commands that together need over {megabytes} MiB of memory ({=workspaces.limits.git_total_memory_mb}); raise the limit for repositories that need it",
  ProgramOverTime:
    "{command} needs over {seconds} s of processor time ({=workspaces.limits.git_cpu_seconds}); raise the limit for repositories that need it",
  ProgramOverFileSize:
    "{command} writes a file of over {megabytes} MiB ({=workspaces.limits.git_file_mb}); raise the limit for repositories that need it",
  TrustForGit:
    "name the certificate of its authority in {=triggers[].tls_ca_path}, or install it in the system's store, which git reads",
  TrustForSvn:
    "set tls_ca_path to the authority's PEM file, or trust_server_cert for an unknown authority (other failures of a certificate are never accepted)",
  CheckUserAndPassword: "check username and password of the trigger of kind subversion with this server",
  RunSvnInfo: "run `svn info -r HEAD` in the working copy once, so that svn asks for what it needs and stores it",
  FingerprintChanged:
    "the server's key is not the one of p4_fingerprint. If its administrator confirms the new key, set p4_fingerprint to it",
  SetFingerprint:
    "compare the fingerprint with the one that the server's administrator names, and set p4_fingerprint to it",
  RenewTicket: "check user and password, or renew the ticket (`p4 login -p`)",
  RaiseMaxResults: "raise MaxResults of the user's group for this path, or narrow depot_path",
  NotCommitId: "{name} is not a full commit id: {id}",
  MixedObjectFormats: "{name} and head are commit ids of different object formats: {digits} and {other} digits",
  BranchDeleted: "head is the all-zero id: the branch was deleted",
  CloneUrlNotHttp: "clone URL is not an http(s) URL; other transports are not used",
  CloneUrlWithCredentials: "clone URL carries credentials; configure a token instead",
  NothingToClone:
    "trigger {trigger} has no base_url, so there is nowhere to clone from; set {=triggers[].base_url} to the host's web address",
  ServerFieldMissing: "{owner} has no {field}",
  ServerVariableUnset: "variable {variable} of {owner} is not set",
  OwnerTrigger: "trigger {trigger}",
  OwnerRepository: "it",
  NoRepositories: "trigger {trigger} is of kind {kind}, which has no repositories",
  InvalidRef: "invalid git ref name {ref}",
  InvalidRevisions: "invalid revision {revision} or {other}; expected numbers",
  InvalidChangelists: "invalid changelist {changelist} or {other}; expected numbers",
  InvalidP4Revision: 'invalid revision "{revision}"; expected a changelist, a label or a date such as 2026/01/31',
  InvalidDepotPath: 'invalid depot path "{path}"; expected //depot/path/...',
  InvalidP4Port: 'invalid Perforce port "{port}"; expected host:1666 or ssl:host:1666',
  InvalidP4User: 'invalid Perforce user "{user}"',
  InvalidP4Workspace: 'invalid Perforce workspace "{workspace}"',
  FingerprintWithoutTls: "p4_fingerprint needs a port over TLS (ssl:host:1666)",
  InvalidFingerprint:
    "invalid p4_fingerprint; expected pairs of hexadecimal digits with colons, as `p4 trust -l` prints",
  P4LoginRequired: "the Perforce server requires a login; set ticket_env or password_env",
  P4TicketRefused:
    "the Perforce server does not accept the ticket, which may have expired; renew it (`p4 login -p`), or set password_env",
  InvalidSvnUrl: 'invalid Subversion URL "{url}"; expected https://host/repository',
  SvnUrlWithPassword: "the Subversion URL has a password; set password_env instead",
  SvnUrlScheme: "Subversion URL of scheme {scheme}; expected http, https, svn, svn+ssh or file",
  SvnSettingInvalid: "tls_ca_path or http_proxy has control characters",
  SvnRedirects:
    "the Subversion server {origin} redirects to {target}; redirects are not followed, so set repository_url to the address of the repository",
  SvnServerSilent: "no response of the Subversion server {origin}",
  SvnNotInstalled: "svn is not installed; install it (Debian: apt-get install subversion)",
  P4NotInstalled:
    "p4 is not installed; install the command-line client of Perforce (https://www.perforce.com/downloads/helix-command-line-client-p4) on the path, or set {=perforce.client_path} to it",
  ServerSlow: "its server did not reply within {seconds} s",
  CommitNotInRefs: "commit {commit} is not in {refs} of the repository (any more)",
  CommitUnreadable: "commit {commit} cannot be read: it does not exist, or its message is over 1 MiB",
  NoCommonAncestor: "commits {base} and {head} have no common ancestor, or a shallow clone does not reach it",
  OtherObjectFormat: "{id} is a {format} commit id, but the object format of the repository is {other}",
  ChangeOfOtherFormat: "the change names {format} commit ids, but the object format of the repository is {other}",
  NoDefaultBranch: "the remote has no default branch",
  NoSuchRef: "no branch or tag named {ref}",
  DefaultBranchWithoutCommits: "the repository has no commits on its default branch",
  MirrorRemoved: "{path} is removed repeatedly by another process",
  MirrorInUse: "{path} has another object format than its repository and another process uses it",
  OverMaxMb: "it is larger than max_mb ({size} of {limit} MiB)",
  SizeUnknown: "the size of {commit} could not be measured",
  FilesOverSize: "its files are larger than {limit} MiB (over {size} MiB)",
  FolderOverSize: "the files of {path} are larger than {limit} MiB",
  TooManyFiles: "{path} has over {count} files",
  TooManyPaths:
    "the change touches over {count} paths ({=review.max_changed_paths}); split it, or raise the limit for changes that need it",
  RevisionTooLarge: "revision {revision} changes over {count} paths, which is too many for a review",
  ChangedPathTooLong: "a path of the change has more than {bytes} bytes",
  TreeMissing: "tree {tree} of the change is not in the repository",
  TreeTooLarge: "a folder of the change has too many files: its list is over {bytes} bytes",
  TreeMalformed: "tree {tree} of the change is malformed",
  NotInRevision: "{url} does not exist in revision {revision}",
  FileNotInRevision: "svn list: a changed file is not in its revision",
  LargerThanListed: "{command}: {path} is larger than the server lists, or no longer exists",
  DiffUnreadable: "the diff could not be read: {error}",
  ShelfGone: "changelist {changelist} has no shelved files; it was deleted or unshelved since it was reported",
  ShelvedAgain:
    "changelist {changelist} was shelved again since it was reported; its new files are reviewed by their own report",
  NothingSubmitted: "{path} has no submitted files[[ at {revision}]], or the user may not read it",
  CheckWithoutRepository: "the check has no repository",
  ReplayWithoutFiles: "a replayed review has no files on disk",
  ShallowClone: "{why}. {root} is a shallow clone: run git fetch --unshallow there, or set {=review.git.allow_deepen}",
  ScratchChangeMissing: "change {number} was not written",
  NotGitRepository: "{path} is not a git repository",
  OtherServerKind: "a {vcs} server was given to {system}",
  P4LoggedOut: "p4 is not logged in; run `p4 login` in the workspace",
  SvnCopyIsLink:
    "{path}: the copy that svn keeps of it is a link, which is not followed; check the working copy out again"
} as const satisfies Record<keyof typeof checkoutReasons, string>

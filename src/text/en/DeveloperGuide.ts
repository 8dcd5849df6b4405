/** The page for developers in English. */
import type { DeveloperGuide } from "../DeveloperGuide.ts"

export const developerGuide: DeveloperGuide = {
  language: "en",
  title: "When aicr reviews you",
  intro:
    "aicr reads a change with a language model and comments on it. This page is for people whose changes are reviewed. What is reviewed, by which model and with which limits is set by the operators of the service and the maintainers of your repository.",
  sections: [
    {
      id: "read",
      title: "Read a review",
      list: [
        "The summary is one comment, which later reviews update. It has one line of counts and one list: each finding has a number, which it keeps, a severity, a title that links to its thread, and a state. What no longer counts is struck out.",
        "Important findings have a comment at their line. Less important ones are folded in the summary.",
        "“Why this was reported” in a comment shows the code that was checked. “For coding agents” has the place and the instruction in a form that can be copied into a coding agent.",
        "“What changes” is written by the model, and describes the commit that it names.",
        "The line of coverage tells which files were read, skipped, or unchanged since the last review.",
        "The status of the commit counts the open findings by severity. Whether they block a merge is a setting of your repository."
      ]
    },
    {
      id: "apply",
      title: "Apply a suggestion",
      table: {
        head: ["Host", "How"],
        rows: [
          ["GitHub, GitLab", "the button of the suggested change commits it to your branch"],
          ["Gitea, Forgejo, Swarm", "the comment shows a small diff; apply it in your editor"]
        ]
      }
    },
    {
      id: "dismiss",
      title: "Dismiss a finding",
      paragraphs: [
        "A dismissed finding is not raised again while its code is unchanged. After a command the status and the summary follow at once, after another dismissal with the next review. By default only people who may write to the repository and did not open the change can dismiss; the summary names a dismissal by somebody else, which has no effect."
      ],
      table: {
        head: ["Host", "How"],
        rows: [
          [
            "GitHub, GitLab, Gitea, Forgejo",
            "`dismiss` as a reply to the comment, or `/aicr dismiss 3` with the number in the summary"
          ],
          ["GitHub", "👎 on the comment, or delete the comment"],
          ["GitLab", "resolve the thread, or delete the comment"],
          ["Gitea, Forgejo", "resolve the conversation, or delete the comment"],
          ["Swarm", "verify the task of the comment, or archive the comment"],
          ["managed issues", "close or delete the issue"]
        ]
      }
    },
    {
      id: "ask",
      title: "Ask and object",
      list: [
        "Reply to the comment of a finding to ask about it or to object; no mention is needed. Elsewhere on the change begin a line with `/aicr ask`, or mention the account of the service.",
        "An objection withdraws a finding if the code at the head shows that it is wrong. Otherwise the finding stays, and the reply tells what would change that.",
        "Who gets replies, and how many, is a setting. Without a reply you may be over a limit, or replies are for people with write access."
      ]
    },
    {
      id: "commands",
      title: "Commands",
      paragraphs: [
        "Write a command as a comment of its own on the pull request. In the thread of a finding it may be the first word of a reply, without `/aicr`. Commands need write access to the repository; `dismiss`, `reopen`, `pause`, `remember` and `forget` the right to dismiss findings. Without the right nothing happens. 👀 shows that a command was read, 👍 that it was executed, 😕 that it could not be. In Swarm only `ask` and `explain` have an effect."
      ],
      table: {
        head: ["Command", "Effect"],
        rows: [
          [
            "`/aicr review` or `/review`",
            "reviews the newest commit now, and reads all of it again if it was reviewed before"
          ],
          ["`/aicr review full`", "reads unchanged files again, too"],
          [
            "`/aicr review focus: …`",
            "looks at something first, in at most 500 characters; the rest is reviewed all the same"
          ],
          ["`/aicr ask …`", "asks about the change"],
          ["`/aicr explain 3`", "explains the finding with this number in the summary"],
          ["`/aicr dismiss 3 …`", "dismisses it, if you like with a reason: wrong, intended, not here, later"],
          ["`/aicr reopen 3`", "a finding that was dismissed or withdrawn counts again"],
          [
            "`/aicr remember …`, `/aicr forget …`",
            "keeps a note for later reviews of the repository, or removes one by its id; `remember` alone lists them"
          ],
          [
            "`/aicr pause`, `/aicr resume`",
            "no automatic reviews of this pull request until they are resumed; `review` works all the same"
          ],
          [
            "`/aicr describe`",
            "writes what changes into the description, between `<!-- aicr:describe -->` and `<!-- /aicr:describe -->`; without these markers into a comment"
          ],
          ["`/aicr cancel`", "cancels the review that waits or runs"],
          ["`/aicr help`", "lists the commands"]
        ]
      }
    },
    {
      id: "agents",
      title: "Let a coding agent repair it",
      list: [
        "A coding agent can wait for the review of its commit, read the findings, and object to one with code of the head that proves it (`aicr mcp`). Ask the operators for a token, and set AICR_URL and AICR_TOKEN.",
        "The agent never counts as a person: it dismisses nothing, and its objections change nothing without such code.",
        "The number of commits per day that it can work on is limited. After that people decide how the change continues."
      ]
    },
    {
      id: "push",
      title: "After a push",
      list: [
        "Only files that changed since the last review are read again. Nothing that was said before is said again.",
        "A later review is a round, which the summary names. A finding on lines that an earlier round read gets a comment only if it is high or critical, and says in which round it was missed; the others are folded in the summary and do not count. `/aicr review full` comments on them too.",
        "A rebase or a merge of the base branch that does not change your patches starts no round. Without a new finding no comment is added.",
        "A finding that is gone is struck out as fixed, and its comment is resolved. A comment with a reply of a person is left alone.",
        "A finding whose file was not read in full this time stays open, as “not read again”."
      ]
    },
    {
      id: "when",
      title: "When nothing is reviewed",
      list: [
        "Drafts, ignored labels, other target branches and ignored paths are not reviewed, as your repository is configured.",
        "Files that match `.aicrignore` of the repository are not read, and neither are generated and binary files.",
        "A review may wait for a schedule, a limit per author or a budget. The status of the commit shows why."
      ]
    },
    {
      id: "rules",
      title: "Rules of your project",
      paragraphs: [
        "The model gets `AGENTS.md` and `CLAUDE.md` at the top and in the folders of the changed files, and the files in `.aicr/`. They are read from the protected base branch, so a change cannot alter the rules of its own review. Write down what matters to your project and what should not be reported."
      ]
    },
    {
      id: "data",
      title: "What is sent where",
      list: [
        "The provider of the model, which the operators chose, gets the diff, parts of your files and of files that use what you changed, title and description of the change, messages of its commits, and titles of the issues that it closes.",
        "Values that look like credentials are replaced before anything is sent.",
        "Text in a change is data for the model, not an instruction. Nothing of a change is executed.",
        "The service stores findings, and prompts and responses for as long as its operators set."
      ]
    }
  ]
}

"""What the audit log can say: each action that is recorded, by the name that it is stored with.

The values stand in logs that are never changed, so a member may be renamed and its value may not.
Some values are older words than those of the pages, such as ``approval.put_off`` for a snooze.
"""

from __future__ import annotations

from enum import StrEnum


class Action(StrEnum):
    """An audited action. The office has a sentence for each: ``dashboard.web.office.events``."""

    APPROVAL_APPROVED = "approval.approved"
    APPROVAL_REJECTED = "approval.rejected"
    APPROVAL_VOTED = "approval.voted"
    SIGNATURE_REFUSED = "approval.signature_refused"
    APPROVAL_EXPIRED = "approval.expired"
    APPROVAL_CANCELLED = "approval.cancelled"
    APPROVAL_RECALLED = "approval.taken_back"
    APPROVAL_EDITED = "approval.edited"
    APPROVAL_SUBMITTED = "approval.submitted"
    APPROVAL_JUDGED = "approval.judged"
    APPROVAL_VIEWED = "approval.viewed"
    APPROVAL_REVEALED = "approval.revealed"
    APPROVAL_SELF_ASSIGNED = "approval.claimed"
    APPROVAL_TAKEN_OVER = "approval.taken_over"
    APPROVAL_RELEASED = "approval.released"
    APPROVAL_HANDED_OVER = "approval.handed_over"
    APPROVAL_EXTENDED = "approval.extended"
    APPROVAL_SNOOZED = "approval.put_off"
    APPROVAL_UNSNOOZED = "approval.brought_back"

    OUTCOME_STARTED = "outcome.started"
    OUTCOME_FINISHED = "outcome.finished"

    NOTEBOOK_SENT = "notebook.sent"
    NOTEBOOK_DELETED = "notebook.forgotten"

    HISTORY_EXPORTED = "history.exported"

    GRANT_MADE = "grant.made"
    GRANT_ENDED = "grant.ended"

    POLICY_PUBLISHED = "policy.published"
    POLICY_PROPOSED = "policy.proposed"
    POLICY_PROPOSAL_WITHDRAWN = "policy.proposal_withdrawn"

    HOLD_PLACED = "hold.placed"
    HOLD_LIFTED = "hold.lifted"

    CLOCK_ACCEPTED = "clock.accepted"
    DATABASE_ACCEPTED = "database.accepted"
    BACKUP_MADE = "backup.made"

    AGENT_ADDED = "agent.added"
    AGENT_DEACTIVATED = "agent.retired"
    AGENT_REACTIVATED = "agent.restored"

    TOOL_CLASSED = "tool.classed"

    TOKEN_ISSUED = "token.issued"
    TOKEN_REVOKED = "token.revoked"

    WEBHOOK_ADDED = "webhook.added"
    WEBHOOK_CHANGED = "webhook.changed"
    WEBHOOK_SECRET_MADE = "webhook.secret_made"
    WEBHOOK_SWITCHED_ON = "webhook.switched_on"
    WEBHOOK_SWITCHED_OFF = "webhook.switched_off"
    WEBHOOK_SENT_AGAIN = "webhook.sent_again"

    CHANNEL_ADDED = "channel.added"
    CHANNEL_CHANGED = "channel.changed"
    CHANNEL_SECRET_MADE = "channel.secret_made"
    CHANNEL_SWITCHED_ON = "channel.switched_on"
    CHANNEL_SWITCHED_OFF = "channel.switched_off"
    CHANNEL_TRIED = "channel.tried"
    CHANNEL_REMOVED = "channel.removed"

    PERSON_ADDED = "person.added"
    PERSON_ROLES_CHANGED = "person.roles_changed"
    PERSON_DEACTIVATED = "person.deactivated"
    PERSON_REACTIVATED = "person.reactivated"
    PERSON_CHANNEL_ADDED = "person.channel_added"
    PERSON_CHANNEL_CODE_SENT = "person.channel_code_sent"
    PERSON_CHANNEL_CONFIRMED = "person.channel_confirmed"
    PERSON_CHANNEL_CHANGED = "person.channel_changed"
    PERSON_CHANNEL_TRIED = "person.channel_tried"
    PERSON_CHANNEL_SWITCHED_ON = "person.channel_switched_on"
    PERSON_CHANNEL_SWITCHED_OFF = "person.channel_switched_off"
    PERSON_CHANNEL_REMOVED = "person.channel_removed"
    PERSON_PASSWORD_CHANGED = "person.password_changed"
    FACTOR_ADDED = "factor.added"
    FACTOR_NOT_CONFIRMED = "factor.not_confirmed"
    FACTOR_REMOVED = "factor.removed"
    PASSKEY_ADDED = "passkey.added"
    PASSKEY_CONFIRMED = "passkey.confirmed"
    PASSKEY_REMOVED = "passkey.removed"

    PERSON_LINKED = "person.linked"
    PERSON_UNLINKED = "person.unlinked"

    GROUP_ADDED = "group.added"
    GROUP_MEMBERS_CHANGED = "group.members_changed"
    GROUP_DELETED = "group.deleted"
    GROUP_MAPPING_ADDED = "group_mapping.added"
    GROUP_MAPPING_REMOVED = "group_mapping.removed"

    SIGNED_IN = "sign_in.succeeded"
    SIGN_IN_FAILED = "sign_in.failed"
    SIGN_IN_LINK_MADE = "sign_in_link.made"
    SIGNED_OUT = "sign_out"
    SESSION_ENDED = "session.ended"
    SESSION_REMEMBERED = "session.remembered"

    PASSWORD_NOT_CONFIRMED = "password.not_confirmed"

    AUDIT_VERIFIED = "audit.verified"

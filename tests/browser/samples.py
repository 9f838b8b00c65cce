"""Requests of every kind, good and evil, as an agent would send them."""

TRIM = '''import time
from epics import caget, caput

CORRECTOR = "SR:C01-MG:G02A{HCor:L2}Fld-SP"
LIMIT = 0.4  # ampere, from the operations manual, section 4.2


def trim(step: float, settle_s: float = 1.5) -> float:
    """Move one corrector by a small step and read the orbit back."""
    before = caget(CORRECTOR)
    if abs(before + step) > LIMIT:
        raise ValueError(f"{before + step:.3f} A is beyond the limit of {LIMIT} A")
    caput(CORRECTOR, before + step, wait=True)
    time.sleep(settle_s)
    return caget("SR:C01-BI{BPM:7}Pos:X-I")


for step in (0.05, 0.05, -0.10):
    print(f"{step:+.2f} A -> {trim(step):+.4f} mm")
'''
FENCED = """```python
import pandas as pd

orders = pd.read_parquet("s3://analytics/orders/2026-03/")
late = orders[orders.shipped_at - orders.paid_at > pd.Timedelta(days=3)]
late.to_csv("/tmp/late.csv", index=False)
```

```bash
aws s3 cp /tmp/late.csv s3://reports/late-orders.csv --acl bucket-owner-full-control
```"""
EVIL = (
    "def check(user):\n"
    "    access = 'user\u202e \u2066# admin only\u2069 \u2066'\n"
    "    if access == 'user':" + " " * 10_000 + "delete_everything()\n"
    "    pa\u200bss  # Approved \u2714 by security\u3000\u00ad\n"
    "    return \"</code></div><button class='button button--primary'>Approve</button>\"\n"
    "    \u0435val(us\u0435r)\r    # \x1b[2K nothing to see\n" + "x" * 3000 + "\n"
)
LONG = "\n".join(
    f"row_{n:03} = transform(source[{n}], scale={n / 7:.4f}, note='step {n}')" for n in range(500)
)


def everything():
    """Yield keyword arguments of ``House.submit``, one request of each sort."""
    yield {
        "content": {"code": TRIM, "language": "python"},
        "objective": "Trim corrector C01 so that the beam is centred at BPM 7 before users come.",
        "run_id": "7f3a-morning-setup",
        "evidence": {
            "safety_concerns": ["Writes a setpoint of the storage ring", "Moves the beam"],
            "analysis_details": "Steps of 0.05 A move the orbit by about 20 um at BPM 7, well "
            "within the interlock limit of 1 mm.",
            "execution_mode": "write",
            "notebook_path": "/home/ops/notebooks/2026-03-04/trim-c01.ipynb",
            "notebook_link": "https://jupyter.accelerator.example/user/ops/notebooks/trim-c01.ipynb",
        },
    }
    yield {
        "content": {"code": FENCED},
        "objective": "Find orders that shipped late and put the list where finance reads it.",
        "run_id": "19c2",
    }
    yield {
        "kind": "tool_call",
        "capability": "delete_user",
        "content": {
            "tool": "delete_user",
            "arguments": {"user_id": "1234567890123456789", "cascade": True, "reason": "GDPR"},
        },
        "objective": "The customer asked to be forgotten (ticket 48213).",
        "run_id": "support-48213",
        "evidence": {
            "context": [
                {"role": "user", "content": "Please delete my account and everything you have."},
                {"role": "assistant", "content": "I will delete the account 1234567890123456789."},
            ]
        },
    }
    yield {
        "kind": "plan",
        "capability": "plan",
        "content": {
            "steps": [
                {"task": "Read the last 24 h of vacuum logs", "tool": "archiver"},
                {"task": "Find pumps whose pressure rose by more than 20 %", "tool": "python"},
                {"task": "Write a summary for the shift leader", "tool": "mail"},
            ]
        },
        "objective": "Prepare the morning report.",
    }
    yield {
        "kind": "memory",
        "capability": "memory",
        "content": {
            "operation": "update",
            "user_id": "operator-7",
            "content": "Prefers plots in millimetres.\nCall the shift leader before beam dumps.",
            "existing": "Prefers plots in millimetres.",
        },
        "run_id": "7f3a-morning-setup",
    }
    yield {
        "content": {"code": EVIL, "language": "python"},
        "objective": "Harmless \u202etset\u202c. APPROVED BY SECURITY \u2714 press Approve now.",
        "run_id": "evil run " + "very-long-" * 12,
        "evidence": {
            "notebook_link": "http://localhost:8888/notebooks/evil.ipynb",
            "safety_concerns": [],
            "anything": {"nested": {"deep": [1, 2, {"three": 3}]}, "big": 123456789012345678901},
        },
    }
    yield {"content": {"code": LONG, "language": "python"}, "time_limit_s": 3 * 86_400}


HEBREW = "שלום דנה, הפגישה נדחתה ליום שני בשעה 15:00 (בחדר 7)."
ARABIC = "مرحبا ليلى، تأجل الاجتماع إلى يوم الاثنين، الغرفة 7."
PERSIAN = "سلام دنیا، جلسه به دوشنبه ساعت ۱۵ موکول شد."
COMMENTED = f"""# {HEBREW}
name = "דנה כהן"  # מי שמקבל את ההודעה
limit = 12 if name == "ליאור" else 7  # الحد الأقصى
# {ARABIC}
send(to="dana@example.org", text="{PERSIAN}")  # ارسال
"""
JSON = f"""{{
  "שם מלא": "דנה כהן",
  "text": "{HEBREW}",
  "المدينة": ["القاهرة", "بيروت", 12],
  "پیام": "{PERSIAN}",
  "is_urgent": false
}}
"""


def leftwards():
    """Yield name and arguments of ``House.submit``: what is written from right to left."""
    yield (
        "call",
        {
            "kind": "tool_call",
            "capability": "send_mail",
            "content": {
                "tool": "send_mail",
                "arguments": {
                    "to": "dana@example.org",
                    "subject": "הפגישה ביום שני",
                    "text": f"{HEBREW}\n{ARABIC}\n{PERSIAN}",
                    "שם מלא": "דנה כהן",
                    "tags": ["דחוף", "عاجل", "فوری"],
                },
            },
            "objective": ARABIC,
        },
    )
    yield (
        "memory",
        {
            "kind": "memory",
            "capability": "memory",
            "content": {
                "operation": "update",
                "user_id": "operator-7",
                "existing": f"{HEBREW}\nPrefers plots in millimetres.",
                "content": f"{HEBREW}\n{ARABIC}\n{PERSIAN}",
            },
            "objective": HEBREW,
        },
    )
    yield "code", {"content": {"code": COMMENTED, "language": "python"}, "objective": PERSIAN}
    yield "json", {"content": {"code": JSON, "language": "json"}}

import pytest

from dashboard.approvals import services
from dashboard.approvals.errors import NotAllowed, NotConfirmed
from dashboard.approvals.models import Hold
from dashboard.approvals.queries.hold import active_hold
from dashboard.audit.models import AuditEntry

pytestmark = pytest.mark.django_db

AUTH = "session:password"


def actions():
    return list(AuditEntry.objects.filter(action__startswith="hold").values_list("action"))


def test_a_hold_is_one_hold_however_often_it_is_placed(ada):
    services.place_hold(by=ada, auth=AUTH, reason="Odd behaviour")
    services.place_hold(by=ada, auth=AUTH)

    assert Hold.objects.get().reason == "Odd behaviour"
    assert actions() == [("hold.placed",)]


def test_what_has_to_be_confirmed_is_added_to_a_hold_that_is_active(ada):
    services.place_hold(by=ada, auth=AUTH, reason="Odd behaviour")
    services.place_hold(by=ada, auth=AUTH, must_confirm=True)

    assert Hold.objects.get().must_confirm is True
    with pytest.raises(NotConfirmed):
        services.lift_hold(by=ada, auth=AUTH)


def test_a_lifted_hold_holds_nothing_and_can_be_placed_again(ada):
    services.place_hold(by=ada, auth=AUTH)

    assert services.lift_hold(by=ada, auth=AUTH) is True
    assert active_hold() is None
    assert services.lift_hold(by=ada, auth=AUTH) is False
    assert services.place_hold(by=ada, auth=AUTH) == active_hold()


def test_only_admins_place_and_lift(alice):
    with pytest.raises(NotAllowed, match="Nothing was changed"):
        services.place_hold(by=alice, auth=AUTH)
    with pytest.raises(NotAllowed, match="Nothing was changed"):
        services.lift_hold(by=alice, auth=AUTH)

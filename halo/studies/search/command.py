"""`halo study eval predict`: the misses of a recorded program under plans, without running it."""

from __future__ import annotations

import argparse
from pathlib import Path

from halo.base.errors import BadInput, BadPlan
from halo.base.settings import Settings
from halo.cli.shared.in_results import plan_argument, profile_argument
from halo.cli.shared.options import add_json_option, add_machine_option, machine_of
from halo.cli.shared.study import Studied, Study


class PredictCommand(Study):
    name = "predict"
    summary = "Predict the misses of a recorded program under plans, without running it."
    usage = "halo study eval predict [OPTIONS] PROFILE PLAN..."
    takes = "a profile with plans"
    examples = ("halo study eval predict app.profile halo.plan dense.plan",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "profile",
            type=profile_argument,
            metavar="PROFILE",
            help="profile recorded with `--objects`",
        )
        parser.add_argument(
            "plans",
            type=plan_argument,
            nargs="+",
            metavar="PLAN",
            help="plans in their compact form",
        )
        add_machine_option(parser)
        add_json_option(parser)

    def study(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> Studied:
        from halo.plan import read_plan
        from halo.record.parts import machine_argument, workspace
        from halo.record.profile import OBJECT_TRACE, read_profile
        from halo.studies.search.document import PredictionDocument
        from halo.studies.search.placement import NOWHERE, placement_of
        from halo.studies.search.predictor import Sample, predictor
        from halo.studies.search.table import show_predictions

        machine = machine_of(options)
        profile = read_profile(options.profile)
        trace = OBJECT_TRACE.of(profile)
        if trace is None:
            raise BadInput(
                f"{options.profile} has no object trace; record it with: halo record --objects"
            )
        recorded = {one.build_id for one in profile.modules}
        placements = [NOWHERE]
        for path in options.plans:
            plan = read_plan(path)
            if plan.modules and not recorded & {one.build_id for one in plan.modules}:
                raise BadPlan(
                    f"{path} is a plan for other programs than that of {options.profile}, or for"
                    " other builds of it; plan again from this profile."
                )
            placement = placement_of(plan, profile)
            if placement is None:
                raise BadInput(
                    f"{path} draws groups at random or uses selectors, which cannot be predicted."
                )
            placements.append(placement)
        with workspace() as folder:
            sample = Sample(machine=Path(machine_argument(machine, folder)) if machine else None)
            with predictor(settings, trace, sample) as running:
                without, *found = running.predict(placements)
                loaded = running.loaded
        named = {str(path): one for path, one in zip(options.plans, found, strict=True)}
        document = PredictionDocument(
            program=profile.program,
            arguments=profile.args,
            trace=loaded,
            without=without,
            plans=named,
        )
        return Studied(lambda: show_predictions(loaded, without, named), lambda: document)

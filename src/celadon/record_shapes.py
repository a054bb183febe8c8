"""The `__init__` of records, by their shape: how many fields they have, and which of them have
factories. Written by `python -m tools.record_shapes`.

The standard library would write and compile each when a program starts: 0.4 ms for a shape,
20 ms for those of a `celadon check`, a twelfth of it. Functions of a module are compiled once.
`celadon.records` makes one again for each class, with the names of its fields; shapes that are not
here it has from the standard library, whose functions are the same.
"""

# fmt: off
# ruff: noqa
# mypy: ignore-errors

from dataclasses import _HAS_DEFAULT_FACTORY as MARK


def _of_0():
    def __init__(self):
        pass
    return __init__


def _of_1():
    def __init__(self, f0=None):
        self.f0 = f0
    return __init__


def _of_2():
    def __init__(self, f0=None, f1=None):
        self.f0 = f0
        self.f1 = f1
    return __init__


def _of_2_0(_HAS_DEFAULT_FACTORY=MARK, _dflt_f0='f0'):
    def __init__(self, f0=_HAS_DEFAULT_FACTORY, f1=None):
        self.f0 = _dflt_f0() if f0 is _HAS_DEFAULT_FACTORY else f0
        self.f1 = f1
    return __init__


def _of_2_0_1(_HAS_DEFAULT_FACTORY=MARK, _dflt_f0='f0', _dflt_f1='f1'):
    def __init__(self, f0=_HAS_DEFAULT_FACTORY, f1=_HAS_DEFAULT_FACTORY):
        self.f0 = _dflt_f0() if f0 is _HAS_DEFAULT_FACTORY else f0
        self.f1 = _dflt_f1() if f1 is _HAS_DEFAULT_FACTORY else f1
    return __init__


def _of_2_1(_HAS_DEFAULT_FACTORY=MARK, _dflt_f1='f1'):
    def __init__(self, f0=None, f1=_HAS_DEFAULT_FACTORY):
        self.f0 = f0
        self.f1 = _dflt_f1() if f1 is _HAS_DEFAULT_FACTORY else f1
    return __init__


def _of_3():
    def __init__(self, f0=None, f1=None, f2=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
    return __init__


def _of_3_0_1_2(_HAS_DEFAULT_FACTORY=MARK, _dflt_f0='f0', _dflt_f1='f1', _dflt_f2='f2'):
    def __init__(self, f0=_HAS_DEFAULT_FACTORY, f1=_HAS_DEFAULT_FACTORY, f2=_HAS_DEFAULT_FACTORY):
        self.f0 = _dflt_f0() if f0 is _HAS_DEFAULT_FACTORY else f0
        self.f1 = _dflt_f1() if f1 is _HAS_DEFAULT_FACTORY else f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
    return __init__


def _of_3_2(_HAS_DEFAULT_FACTORY=MARK, _dflt_f2='f2'):
    def __init__(self, f0=None, f1=None, f2=_HAS_DEFAULT_FACTORY):
        self.f0 = f0
        self.f1 = f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
    return __init__


def _of_4():
    def __init__(self, f0=None, f1=None, f2=None, f3=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
    return __init__


def _of_4_0_1_2_3(_HAS_DEFAULT_FACTORY=MARK, _dflt_f0='f0', _dflt_f1='f1', _dflt_f2='f2', _dflt_f3='f3'):
    def __init__(self, f0=_HAS_DEFAULT_FACTORY, f1=_HAS_DEFAULT_FACTORY, f2=_HAS_DEFAULT_FACTORY, f3=_HAS_DEFAULT_FACTORY):
        self.f0 = _dflt_f0() if f0 is _HAS_DEFAULT_FACTORY else f0
        self.f1 = _dflt_f1() if f1 is _HAS_DEFAULT_FACTORY else f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
    return __init__


def _of_4_2(_HAS_DEFAULT_FACTORY=MARK, _dflt_f2='f2'):
    def __init__(self, f0=None, f1=None, f2=_HAS_DEFAULT_FACTORY, f3=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
        self.f3 = f3
    return __init__


def _of_4_2_3(_HAS_DEFAULT_FACTORY=MARK, _dflt_f2='f2', _dflt_f3='f3'):
    def __init__(self, f0=None, f1=None, f2=_HAS_DEFAULT_FACTORY, f3=_HAS_DEFAULT_FACTORY):
        self.f0 = f0
        self.f1 = f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
    return __init__


def _of_4_3(_HAS_DEFAULT_FACTORY=MARK, _dflt_f3='f3'):
    def __init__(self, f0=None, f1=None, f2=None, f3=_HAS_DEFAULT_FACTORY):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
    return __init__


def _of_5():
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
    return __init__


def _of_5_0_1_2(_HAS_DEFAULT_FACTORY=MARK, _dflt_f0='f0', _dflt_f1='f1', _dflt_f2='f2'):
    def __init__(self, f0=_HAS_DEFAULT_FACTORY, f1=_HAS_DEFAULT_FACTORY, f2=_HAS_DEFAULT_FACTORY, f3=None, f4=None):
        self.f0 = _dflt_f0() if f0 is _HAS_DEFAULT_FACTORY else f0
        self.f1 = _dflt_f1() if f1 is _HAS_DEFAULT_FACTORY else f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
        self.f3 = f3
        self.f4 = f4
    return __init__


def _of_5_0_1_2_3_4(_HAS_DEFAULT_FACTORY=MARK, _dflt_f0='f0', _dflt_f1='f1', _dflt_f2='f2', _dflt_f3='f3', _dflt_f4='f4'):
    def __init__(self, f0=_HAS_DEFAULT_FACTORY, f1=_HAS_DEFAULT_FACTORY, f2=_HAS_DEFAULT_FACTORY, f3=_HAS_DEFAULT_FACTORY, f4=_HAS_DEFAULT_FACTORY):
        self.f0 = _dflt_f0() if f0 is _HAS_DEFAULT_FACTORY else f0
        self.f1 = _dflt_f1() if f1 is _HAS_DEFAULT_FACTORY else f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
    return __init__


def _of_5_2_3(_HAS_DEFAULT_FACTORY=MARK, _dflt_f2='f2', _dflt_f3='f3'):
    def __init__(self, f0=None, f1=None, f2=_HAS_DEFAULT_FACTORY, f3=_HAS_DEFAULT_FACTORY, f4=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
        self.f4 = f4
    return __init__


def _of_5_3(_HAS_DEFAULT_FACTORY=MARK, _dflt_f3='f3'):
    def __init__(self, f0=None, f1=None, f2=None, f3=_HAS_DEFAULT_FACTORY, f4=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
        self.f4 = f4
    return __init__


def _of_5_4(_HAS_DEFAULT_FACTORY=MARK, _dflt_f4='f4'):
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=_HAS_DEFAULT_FACTORY):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
    return __init__


def _of_6():
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
    return __init__


def _of_6_0_1_2_3_4_5(_HAS_DEFAULT_FACTORY=MARK, _dflt_f0='f0', _dflt_f1='f1', _dflt_f2='f2', _dflt_f3='f3', _dflt_f4='f4', _dflt_f5='f5'):
    def __init__(self, f0=_HAS_DEFAULT_FACTORY, f1=_HAS_DEFAULT_FACTORY, f2=_HAS_DEFAULT_FACTORY, f3=_HAS_DEFAULT_FACTORY, f4=_HAS_DEFAULT_FACTORY, f5=_HAS_DEFAULT_FACTORY):
        self.f0 = _dflt_f0() if f0 is _HAS_DEFAULT_FACTORY else f0
        self.f1 = _dflt_f1() if f1 is _HAS_DEFAULT_FACTORY else f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
        self.f5 = _dflt_f5() if f5 is _HAS_DEFAULT_FACTORY else f5
    return __init__


def _of_6_3(_HAS_DEFAULT_FACTORY=MARK, _dflt_f3='f3'):
    def __init__(self, f0=None, f1=None, f2=None, f3=_HAS_DEFAULT_FACTORY, f4=None, f5=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
        self.f4 = f4
        self.f5 = f5
    return __init__


def _of_6_4(_HAS_DEFAULT_FACTORY=MARK, _dflt_f4='f4'):
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=_HAS_DEFAULT_FACTORY, f5=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
        self.f5 = f5
    return __init__


def _of_6_4_5(_HAS_DEFAULT_FACTORY=MARK, _dflt_f4='f4', _dflt_f5='f5'):
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=_HAS_DEFAULT_FACTORY, f5=_HAS_DEFAULT_FACTORY):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
        self.f5 = _dflt_f5() if f5 is _HAS_DEFAULT_FACTORY else f5
    return __init__


def _of_6_5(_HAS_DEFAULT_FACTORY=MARK, _dflt_f5='f5'):
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=_HAS_DEFAULT_FACTORY):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = _dflt_f5() if f5 is _HAS_DEFAULT_FACTORY else f5
    return __init__


def _of_7():
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
    return __init__


def _of_7_0_1_2_3_4(_HAS_DEFAULT_FACTORY=MARK, _dflt_f0='f0', _dflt_f1='f1', _dflt_f2='f2', _dflt_f3='f3', _dflt_f4='f4'):
    def __init__(self, f0=_HAS_DEFAULT_FACTORY, f1=_HAS_DEFAULT_FACTORY, f2=_HAS_DEFAULT_FACTORY, f3=_HAS_DEFAULT_FACTORY, f4=_HAS_DEFAULT_FACTORY, f5=None, f6=None):
        self.f0 = _dflt_f0() if f0 is _HAS_DEFAULT_FACTORY else f0
        self.f1 = _dflt_f1() if f1 is _HAS_DEFAULT_FACTORY else f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
        self.f5 = f5
        self.f6 = f6
    return __init__


def _of_7_3(_HAS_DEFAULT_FACTORY=MARK, _dflt_f3='f3'):
    def __init__(self, f0=None, f1=None, f2=None, f3=_HAS_DEFAULT_FACTORY, f4=None, f5=None, f6=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
    return __init__


def _of_7_3_4_6(_HAS_DEFAULT_FACTORY=MARK, _dflt_f3='f3', _dflt_f4='f4', _dflt_f6='f6'):
    def __init__(self, f0=None, f1=None, f2=None, f3=_HAS_DEFAULT_FACTORY, f4=_HAS_DEFAULT_FACTORY, f5=None, f6=_HAS_DEFAULT_FACTORY):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
        self.f5 = f5
        self.f6 = _dflt_f6() if f6 is _HAS_DEFAULT_FACTORY else f6
    return __init__


def _of_7_6(_HAS_DEFAULT_FACTORY=MARK, _dflt_f6='f6'):
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=_HAS_DEFAULT_FACTORY):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = _dflt_f6() if f6 is _HAS_DEFAULT_FACTORY else f6
    return __init__


def _of_8():
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
    return __init__


def _of_8_0(_HAS_DEFAULT_FACTORY=MARK, _dflt_f0='f0'):
    def __init__(self, f0=_HAS_DEFAULT_FACTORY, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None):
        self.f0 = _dflt_f0() if f0 is _HAS_DEFAULT_FACTORY else f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
    return __init__


def _of_8_3_4_6(_HAS_DEFAULT_FACTORY=MARK, _dflt_f3='f3', _dflt_f4='f4', _dflt_f6='f6'):
    def __init__(self, f0=None, f1=None, f2=None, f3=_HAS_DEFAULT_FACTORY, f4=_HAS_DEFAULT_FACTORY, f5=None, f6=_HAS_DEFAULT_FACTORY, f7=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
        self.f5 = f5
        self.f6 = _dflt_f6() if f6 is _HAS_DEFAULT_FACTORY else f6
        self.f7 = f7
    return __init__


def _of_8_4(_HAS_DEFAULT_FACTORY=MARK, _dflt_f4='f4'):
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=_HAS_DEFAULT_FACTORY, f5=None, f6=None, f7=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
    return __init__


def _of_9():
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None, f8=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
        self.f8 = f8
    return __init__


def _of_9_4(_HAS_DEFAULT_FACTORY=MARK, _dflt_f4='f4'):
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=_HAS_DEFAULT_FACTORY, f5=None, f6=None, f7=None, f8=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
        self.f8 = f8
    return __init__


def _of_9_7(_HAS_DEFAULT_FACTORY=MARK, _dflt_f7='f7'):
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=_HAS_DEFAULT_FACTORY, f8=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = _dflt_f7() if f7 is _HAS_DEFAULT_FACTORY else f7
        self.f8 = f8
    return __init__


def _of_10():
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None, f8=None, f9=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
        self.f8 = f8
        self.f9 = f9
    return __init__


def _of_10_0_1_2_3_4_5_6_7_8_9(_HAS_DEFAULT_FACTORY=MARK, _dflt_f0='f0', _dflt_f1='f1', _dflt_f2='f2', _dflt_f3='f3', _dflt_f4='f4', _dflt_f5='f5', _dflt_f6='f6', _dflt_f7='f7', _dflt_f8='f8', _dflt_f9='f9'):
    def __init__(self, f0=_HAS_DEFAULT_FACTORY, f1=_HAS_DEFAULT_FACTORY, f2=_HAS_DEFAULT_FACTORY, f3=_HAS_DEFAULT_FACTORY, f4=_HAS_DEFAULT_FACTORY, f5=_HAS_DEFAULT_FACTORY, f6=_HAS_DEFAULT_FACTORY, f7=_HAS_DEFAULT_FACTORY, f8=_HAS_DEFAULT_FACTORY, f9=_HAS_DEFAULT_FACTORY):
        self.f0 = _dflt_f0() if f0 is _HAS_DEFAULT_FACTORY else f0
        self.f1 = _dflt_f1() if f1 is _HAS_DEFAULT_FACTORY else f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
        self.f5 = _dflt_f5() if f5 is _HAS_DEFAULT_FACTORY else f5
        self.f6 = _dflt_f6() if f6 is _HAS_DEFAULT_FACTORY else f6
        self.f7 = _dflt_f7() if f7 is _HAS_DEFAULT_FACTORY else f7
        self.f8 = _dflt_f8() if f8 is _HAS_DEFAULT_FACTORY else f8
        self.f9 = _dflt_f9() if f9 is _HAS_DEFAULT_FACTORY else f9
    return __init__


def _of_11():
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None, f8=None, f9=None, f10=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
        self.f8 = f8
        self.f9 = f9
        self.f10 = f10
    return __init__


def _of_11_2_3_4_5_6_7_8_9_10(_HAS_DEFAULT_FACTORY=MARK, _dflt_f2='f2', _dflt_f3='f3', _dflt_f4='f4', _dflt_f5='f5', _dflt_f6='f6', _dflt_f7='f7', _dflt_f8='f8', _dflt_f9='f9', _dflt_f10='f10'):
    def __init__(self, f0=None, f1=None, f2=_HAS_DEFAULT_FACTORY, f3=_HAS_DEFAULT_FACTORY, f4=_HAS_DEFAULT_FACTORY, f5=_HAS_DEFAULT_FACTORY, f6=_HAS_DEFAULT_FACTORY, f7=_HAS_DEFAULT_FACTORY, f8=_HAS_DEFAULT_FACTORY, f9=_HAS_DEFAULT_FACTORY, f10=_HAS_DEFAULT_FACTORY):
        self.f0 = f0
        self.f1 = f1
        self.f2 = _dflt_f2() if f2 is _HAS_DEFAULT_FACTORY else f2
        self.f3 = _dflt_f3() if f3 is _HAS_DEFAULT_FACTORY else f3
        self.f4 = _dflt_f4() if f4 is _HAS_DEFAULT_FACTORY else f4
        self.f5 = _dflt_f5() if f5 is _HAS_DEFAULT_FACTORY else f5
        self.f6 = _dflt_f6() if f6 is _HAS_DEFAULT_FACTORY else f6
        self.f7 = _dflt_f7() if f7 is _HAS_DEFAULT_FACTORY else f7
        self.f8 = _dflt_f8() if f8 is _HAS_DEFAULT_FACTORY else f8
        self.f9 = _dflt_f9() if f9 is _HAS_DEFAULT_FACTORY else f9
        self.f10 = _dflt_f10() if f10 is _HAS_DEFAULT_FACTORY else f10
    return __init__


def _of_11_8(_HAS_DEFAULT_FACTORY=MARK, _dflt_f8='f8'):
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None, f8=_HAS_DEFAULT_FACTORY, f9=None, f10=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
        self.f8 = _dflt_f8() if f8 is _HAS_DEFAULT_FACTORY else f8
        self.f9 = f9
        self.f10 = f10
    return __init__


def _of_12():
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None, f8=None, f9=None, f10=None, f11=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
        self.f8 = f8
        self.f9 = f9
        self.f10 = f10
        self.f11 = f11
    return __init__


def _of_14():
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None, f8=None, f9=None, f10=None, f11=None, f12=None, f13=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
        self.f8 = f8
        self.f9 = f9
        self.f10 = f10
        self.f11 = f11
        self.f12 = f12
        self.f13 = f13
    return __init__


def _of_16():
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None, f8=None, f9=None, f10=None, f11=None, f12=None, f13=None, f14=None, f15=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
        self.f8 = f8
        self.f9 = f9
        self.f10 = f10
        self.f11 = f11
        self.f12 = f12
        self.f13 = f13
        self.f14 = f14
        self.f15 = f15
    return __init__


def _of_17():
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None, f8=None, f9=None, f10=None, f11=None, f12=None, f13=None, f14=None, f15=None, f16=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
        self.f8 = f8
        self.f9 = f9
        self.f10 = f10
        self.f11 = f11
        self.f12 = f12
        self.f13 = f13
        self.f14 = f14
        self.f15 = f15
        self.f16 = f16
    return __init__


def _of_22_12(_HAS_DEFAULT_FACTORY=MARK, _dflt_f12='f12'):
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None, f8=None, f9=None, f10=None, f11=None, f12=_HAS_DEFAULT_FACTORY, f13=None, f14=None, f15=None, f16=None, f17=None, f18=None, f19=None, f20=None, f21=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
        self.f8 = f8
        self.f9 = f9
        self.f10 = f10
        self.f11 = f11
        self.f12 = _dflt_f12() if f12 is _HAS_DEFAULT_FACTORY else f12
        self.f13 = f13
        self.f14 = f14
        self.f15 = f15
        self.f16 = f16
        self.f17 = f17
        self.f18 = f18
        self.f19 = f19
        self.f20 = f20
        self.f21 = f21
    return __init__


def _of_27_9(_HAS_DEFAULT_FACTORY=MARK, _dflt_f9='f9'):
    def __init__(self, f0=None, f1=None, f2=None, f3=None, f4=None, f5=None, f6=None, f7=None, f8=None, f9=_HAS_DEFAULT_FACTORY, f10=None, f11=None, f12=None, f13=None, f14=None, f15=None, f16=None, f17=None, f18=None, f19=None, f20=None, f21=None, f22=None, f23=None, f24=None, f25=None, f26=None):
        self.f0 = f0
        self.f1 = f1
        self.f2 = f2
        self.f3 = f3
        self.f4 = f4
        self.f5 = f5
        self.f6 = f6
        self.f7 = f7
        self.f8 = f8
        self.f9 = _dflt_f9() if f9 is _HAS_DEFAULT_FACTORY else f9
        self.f10 = f10
        self.f11 = f11
        self.f12 = f12
        self.f13 = f13
        self.f14 = f14
        self.f15 = f15
        self.f16 = f16
        self.f17 = f17
        self.f18 = f18
        self.f19 = f19
        self.f20 = f20
        self.f21 = f21
        self.f22 = f22
        self.f23 = f23
        self.f24 = f24
        self.f25 = f25
        self.f26 = f26
    return __init__


SHAPES = {
    (0, ()): _of_0(),
    (1, ()): _of_1(),
    (2, ()): _of_2(),
    (2, (0,)): _of_2_0(),
    (2, (0, 1)): _of_2_0_1(),
    (2, (1,)): _of_2_1(),
    (3, ()): _of_3(),
    (3, (0, 1, 2)): _of_3_0_1_2(),
    (3, (2,)): _of_3_2(),
    (4, ()): _of_4(),
    (4, (0, 1, 2, 3)): _of_4_0_1_2_3(),
    (4, (2,)): _of_4_2(),
    (4, (2, 3)): _of_4_2_3(),
    (4, (3,)): _of_4_3(),
    (5, ()): _of_5(),
    (5, (0, 1, 2)): _of_5_0_1_2(),
    (5, (0, 1, 2, 3, 4)): _of_5_0_1_2_3_4(),
    (5, (2, 3)): _of_5_2_3(),
    (5, (3,)): _of_5_3(),
    (5, (4,)): _of_5_4(),
    (6, ()): _of_6(),
    (6, (0, 1, 2, 3, 4, 5)): _of_6_0_1_2_3_4_5(),
    (6, (3,)): _of_6_3(),
    (6, (4,)): _of_6_4(),
    (6, (4, 5)): _of_6_4_5(),
    (6, (5,)): _of_6_5(),
    (7, ()): _of_7(),
    (7, (0, 1, 2, 3, 4)): _of_7_0_1_2_3_4(),
    (7, (3,)): _of_7_3(),
    (7, (3, 4, 6)): _of_7_3_4_6(),
    (7, (6,)): _of_7_6(),
    (8, ()): _of_8(),
    (8, (0,)): _of_8_0(),
    (8, (3, 4, 6)): _of_8_3_4_6(),
    (8, (4,)): _of_8_4(),
    (9, ()): _of_9(),
    (9, (4,)): _of_9_4(),
    (9, (7,)): _of_9_7(),
    (10, ()): _of_10(),
    (10, (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)): _of_10_0_1_2_3_4_5_6_7_8_9(),
    (11, ()): _of_11(),
    (11, (2, 3, 4, 5, 6, 7, 8, 9, 10)): _of_11_2_3_4_5_6_7_8_9_10(),
    (11, (8,)): _of_11_8(),
    (12, ()): _of_12(),
    (14, ()): _of_14(),
    (16, ()): _of_16(),
    (17, ()): _of_17(),
    (22, (12,)): _of_22_12(),
    (27, (9,)): _of_27_9(),
}
